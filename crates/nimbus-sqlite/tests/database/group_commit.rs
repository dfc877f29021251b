//! Writes that queue up share a commit and nothing else.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use nimbus_sqlite::rusqlite::Error::QueryReturnedNoRows;
use nimbus_sqlite::{Durability, ErrorKind, OpenOptions};

use crate::support::{Fixture, HeldWriter, insert, queue, queue_insert};

#[tokio::test]
async fn writes_that_queue_up_share_one_commit() {
    let fixture = Fixture::new().await;
    let before = fixture.database.stats();
    let held = HeldWriter::new(&fixture.database);
    let queued: Vec<_> = ["a", "b", "c", "d"]
        .map(|name| queue_insert(&fixture.database, name))
        .into();
    held.release().await;
    for write in queued {
        assert_eq!(write.await.expect("a new name"), 1);
    }
    let after = fixture.database.stats();
    assert_eq!(after.writes - before.writes, 5);
    assert_eq!(
        after.commits - before.commits,
        2,
        "one for the held write, one for all others"
    );
    assert_eq!(fixture.names().await, ["a", "b", "c", "d"]);
}

#[tokio::test]
async fn a_write_that_is_alone_waits_for_nobody() {
    let fixture = Fixture::new().await;
    let before = fixture.database.stats().commits;
    for name in ["a", "b", "c"] {
        fixture
            .database
            .write(move |tx| insert(tx, name))
            .await
            .expect("a new name");
    }
    assert_eq!(fixture.database.stats().commits - before, 3);
}

#[tokio::test]
async fn a_write_that_fails_is_undone_alone() {
    let fixture = Fixture::new().await;
    let held = HeldWriter::new(&fixture.database);
    let first = queue_insert(&fixture.database, "first");
    let database = fixture.database.clone();
    let failing = queue(async move {
        database
            .write(|tx| {
                insert(tx, "half done")?;
                insert(tx, "first")
            })
            .await
    });
    let last = queue_insert(&fixture.database, "last");
    held.release().await;
    first.await.expect("not disturbed");
    last.await.expect("not disturbed");
    let error = failing.await.expect_err("the name is taken");
    assert_eq!(error.kind(), ErrorKind::Constraint);
    assert_eq!(fixture.names().await, ["first", "last"]);
}

#[tokio::test]
async fn a_panic_is_undone_and_told_to_its_caller_alone() {
    let fixture = Fixture::new().await;
    let held = HeldWriter::new(&fixture.database);
    let first = queue_insert(&fixture.database, "first");
    let database = fixture.database.clone();
    let panicking = queue(async move {
        database
            .write(|tx| {
                insert(tx, "half done")?;
                if tx.is_autocommit() {
                    Ok(())
                } else {
                    panic!("a defect in a closure")
                }
            })
            .await
    });
    let last = queue_insert(&fixture.database, "last");
    held.release().await;
    first.await.expect("not disturbed");
    last.await.expect("not disturbed");
    let error = panicking.await.expect_err("it panicked");
    assert_eq!(error.kind(), ErrorKind::Panicked);
    assert!(
        error.to_string().contains("a defect in a closure"),
        "{error}"
    );
    fixture
        .database
        .write(|tx| insert(tx, "later"))
        .await
        .expect("the writer lives on");
    assert_eq!(fixture.names().await, ["first", "last", "later"]);
}

#[tokio::test]
async fn a_group_whose_commit_is_refused_is_committed_one_by_one() {
    let fixture = Fixture::new().await;
    fixture
        .database
        .write(|tx| {
            tx.execute_batch(
                "create table child (
                    parent text not null references item (name) deferrable initially deferred
                 ) strict",
            )
        })
        .await
        .expect("a new table");
    let held = HeldWriter::new(&fixture.database);
    let first = queue_insert(&fixture.database, "first");
    let database = fixture.database.clone();
    // Nothing is wrong until the commit.
    let orphan = queue(async move {
        database
            .write(|tx| tx.execute("insert into child values ('nobody')", ()))
            .await
    });
    let last = queue_insert(&fixture.database, "last");
    held.release().await;
    first.await.expect("not disturbed");
    last.await.expect("not disturbed");
    let error = orphan.await.expect_err("it has no parent");
    assert_eq!(error.kind(), ErrorKind::Constraint);
    assert!(!error.outcome_unknown());
    assert_eq!(fixture.names().await, ["first", "last"]);
}

#[tokio::test]
async fn a_write_whose_caller_went_away_still_runs_whole() {
    let fixture = Fixture::new().await;
    let held = HeldWriter::new(&fixture.database);
    let runs = Arc::new(AtomicUsize::new(0));
    let (database, counter) = (fixture.database.clone(), Arc::clone(&runs));
    let dropped = queue(async move {
        database
            .write(move |tx| {
                counter.fetch_add(1, Ordering::SeqCst);
                insert(tx, "first half")?;
                insert(tx, "second half")
            })
            .await
    });
    drop(dropped);
    held.release().await;
    fixture
        .database
        .write(|_| Ok(()))
        .await
        .expect("an empty write, behind it");
    assert_eq!(runs.load(Ordering::SeqCst), 1);
    assert_eq!(fixture.names().await, ["first half", "second half"]);
}

#[tokio::test]
async fn a_value_that_panics_when_nobody_takes_it_does_not_end_the_writer() {
    struct Trap;
    impl Drop for Trap {
        fn drop(&mut self) {
            if std::thread::current().name() == Some("nimbus-sq-write") {
                panic!("dropped on the writer's thread");
            }
        }
    }
    let fixture = Fixture::new().await;
    let held = HeldWriter::new(&fixture.database);
    let database = fixture.database.clone();
    drop(queue(async move { database.write(|_| Ok(Trap)).await }));
    let next = queue_insert(&fixture.database, "next");
    held.release().await;
    next.await.expect("answered in spite of the trap before it");
    fixture
        .database
        .write(|tx| insert(tx, "later"))
        .await
        .expect("the writer lives on");
}

#[tokio::test]
async fn a_value_that_panics_when_its_write_runs_again_does_not_end_the_writer() {
    struct Trap(Arc<AtomicUsize>);
    impl Drop for Trap {
        fn drop(&mut self) {
            assert_ne!(self.0.fetch_add(1, Ordering::SeqCst), 0, "the first drop");
        }
    }
    let fixture = Fixture::new().await;
    let held = HeldWriter::new(&fixture.database);
    let (database, drops) = (fixture.database.clone(), Arc::default());
    let trapped = queue(async move {
        database
            .write(move |tx| insert(tx, "trapped").map(|_| Trap(Arc::clone(&drops))))
            .await
    });
    let database = fixture.database.clone();
    let culprit = queue(async move { database.write(|tx| tx.execute_batch("ROLLBACK")).await });
    let next = queue_insert(&fixture.database, "next");
    held.release().await;
    trapped.await.expect("it ran again");
    culprit
        .await
        .expect_err("it cost the group its transaction");
    next.await.expect("not disturbed");
    fixture
        .database
        .write(|tx| insert(tx, "later"))
        .await
        .expect("the writer lives on");
    assert_eq!(fixture.names().await, ["later", "next", "trapped"]);
}

/// A value is dropped outside its caller's reach where its savepoint is gone too.
#[tokio::test]
async fn a_value_that_panics_when_its_savepoint_is_gone_does_not_end_the_writer() {
    struct Trap;
    impl Drop for Trap {
        fn drop(&mut self) {
            panic!("dropped by whoever finds the savepoint gone");
        }
    }
    let fixture = Fixture::new().await;
    let database = fixture.database.clone();
    let ending = database.write(|tx| tx.execute_batch("ROLLBACK").map(|()| Trap));
    let error = ending.await.map(std::mem::forget).expect_err("not stored");
    assert!(error.outcome_unknown(), "{error:?}");
    fixture
        .database
        .write(|tx| insert(tx, "later"))
        .await
        .expect("the writer lives on");
}

#[tokio::test]
async fn a_closure_that_ends_its_transaction_is_told_so() {
    let fixture = Fixture::new().await;
    let error = fixture
        .database
        .write(|tx| {
            insert(tx, "a")?;
            tx.execute_batch("ROLLBACK")
        })
        .await
        .expect_err("the transaction isn't the closure's to end");
    assert_eq!(error.kind(), ErrorKind::Other);
    assert!(
        error.to_string().contains("ended the transaction"),
        "{error}"
    );
    fixture
        .database
        .write(|tx| insert(tx, "b"))
        .await
        .expect("the writer lives on");
    assert_eq!(fixture.names().await, ["b"]);
}

#[tokio::test]
async fn an_error_of_the_closures_own_comes_back() {
    let fixture = Fixture::new().await;
    let before = fixture.database.stats();
    let error = fixture
        .database
        .write(|_| Err::<(), _>(QueryReturnedNoRows))
        .await
        .expect_err("its own");
    assert_eq!(error.kind(), ErrorKind::Other);
    assert_eq!(error.extended_code(), None);
    assert_eq!(
        fixture.database.stats(),
        before,
        "there was nothing to commit"
    );
    assert_eq!(
        std::error::Error::source(&error).map(ToString::to_string),
        Some(QueryReturnedNoRows.to_string())
    );
    assert!(
        !error.to_string().contains(&QueryReturnedNoRows.to_string()),
        "the source is told once: {error}"
    );
    assert!(error.to_string().contains("test.db"), "{error}");
}

#[tokio::test]
async fn a_commit_is_on_the_disk_unless_asked_otherwise() {
    for (options, expected) in [
        (OpenOptions::default(), 2),
        (
            OpenOptions::default().with_durability(Durability::Normal),
            1,
        ),
    ] {
        let fixture = Fixture::with(options).await;
        let (sender, settings) = mpsc::channel();
        fixture
            .database
            .write(move |tx| {
                let pragma = |name: &str| {
                    tx.query_row(&format!("PRAGMA {name}"), (), |row| row.get::<_, i64>(0))
                };
                sender
                    .send((pragma("synchronous")?, pragma("foreign_keys")?))
                    .expect("the test waits");
                Ok(())
            })
            .await
            .expect("reads settings");
        assert_eq!(settings.recv(), Ok((expected, 1)));
    }
}
