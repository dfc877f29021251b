//! Opening and closing.

use std::path::Path;
use std::sync::mpsc;
use std::thread;

use nimbus_sqlite::rusqlite::Connection;
use nimbus_sqlite::{Database, ErrorKind, OpenOptions};
use tokio::task::JoinSet;

use crate::support::{Fixture, HeldWriter, insert, items, queue, queue_insert, start_and_drop};

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn sixteen_may_open_a_fresh_file_at_once() {
    for _ in 0..16 {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join("test.db");
        let mut tasks = JoinSet::new();
        for index in 0..16 {
            let path = path.clone();
            tasks.spawn(async move {
                let database = Database::open(path, OpenOptions::default()).await?;
                database.ensure_schema(items()).await?;
                database
                    .write(move |tx| insert(tx, &index.to_string()))
                    .await
            });
        }
        for outcome in tasks.join_all().await {
            outcome.expect("everyone gets in");
        }
    }
}

#[tokio::test]
async fn close_finishes_what_was_queued_and_lets_go_of_the_file() {
    let fixture = Fixture::new().await;
    let held = HeldWriter::new(&fixture.database);
    let write = queue_insert(&fixture.database, "queued");
    let database = fixture.database.clone();
    let closing = queue(async move {
        database.close().await;
        Ok(())
    });
    let error = fixture
        .database
        .write(|tx| insert(tx, "late"))
        .await
        .expect_err("it is closed");
    assert_eq!(error.kind(), ErrorKind::Closed);
    held.release().await;
    write.await.expect("it was queued before");
    closing.await.expect("infallible");
    // The last connection that is closed takes the log with it.
    assert!(
        !fixture.path().with_extension("db-wal").exists(),
        "a connection is still open"
    );
}

#[tokio::test]
async fn nothing_works_on_a_closed_database() {
    let fixture = Fixture::new().await;
    fixture.database.close().await;
    fixture.database.close().await;
    let write = fixture.database.write(|tx| insert(tx, "a")).await.map(drop);
    let read = fixture.database.read(|_| Ok(())).await;
    let transaction = fixture.database.transaction().await.map(drop);
    for outcome in [write, read, transaction] {
        let error = outcome.expect_err("it is closed");
        assert_eq!(error.kind(), ErrorKind::Closed);
        assert!(!error.outcome_unknown(), "nothing ran");
    }
}

#[tokio::test]
async fn close_waits_for_an_open_transaction() {
    let fixture = Fixture::new().await;
    let tx = fixture.database.transaction().await.expect("nobody else");
    tx.call(|tx| insert(tx, "a")).await.expect("a new name");
    let database = fixture.database.clone();
    let closing = queue(async move {
        database.close().await;
        Ok(())
    });
    tx.commit().await.expect("it is still open");
    closing.await.expect("infallible");
    let count: i64 = Connection::open(fixture.path())
        .and_then(|connection| {
            connection.query_row("select count(*) from item", (), |row| row.get(0))
        })
        .expect("an intact file");
    assert_eq!(count, 1);
}

#[tokio::test]
async fn dropping_the_last_handle_finishes_what_was_queued() {
    struct Signal(mpsc::Sender<()>);
    impl Drop for Signal {
        fn drop(&mut self) {
            let _ = self.0.send(());
        }
    }
    let fixture = Fixture::new().await;
    let second = Database::open(fixture.path(), OpenOptions::default())
        .await
        .expect("the same file");
    let stranger = fixture.stranger();
    stranger
        .execute_batch("BEGIN IMMEDIATE")
        .expect("nobody else writes");
    let (sender, is_answered) = mpsc::channel();
    let signal = Signal(sender);
    drop(queue(async move {
        second
            .write(move |tx| {
                let _kept_until_answered = &signal;
                insert(tx, "queued")
            })
            .await
    }));
    stranger.execute_batch("COMMIT").expect("it is open");
    is_answered.recv().expect("the writer goes on");
    assert_eq!(fixture.names().await, ["queued"]);
}

/// The last connection that is closed takes the log with it.
fn wait_for_last_connection(path: &Path) {
    while path.with_extension("db-wal").exists() {
        thread::yield_now();
    }
}

#[tokio::test]
async fn dropping_the_last_handle_ends_the_threads() {
    let fixture = Fixture::new().await;
    let tx = fixture.database.transaction().await.expect("nobody else");
    tx.commit().await.expect("it is open");
    let path = fixture.path();
    let Fixture {
        database,
        directory,
    } = fixture;
    drop(database);
    wait_for_last_connection(&path);
    drop(directory);
}

#[tokio::test]
async fn an_open_that_is_dropped_ends_its_threads() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let path = directory.path().join("test.db");
    start_and_drop(Database::open(&path, OpenOptions::default()));
    let database = Database::open(&path, OpenOptions::default())
        .await
        .expect("a good file");
    database.ensure_schema(items()).await.expect("a good file");
    database.close().await;
    wait_for_last_connection(&path);
}
