//! The table: made, found, missed, or not ours.

use nimbus_inbox_core::{ErrorKind, InboxStore, Operation, Recorded};
use nimbus_inbox_sqlite::rusqlite::Connection;
use nimbus_inbox_sqlite::{Database, OpenOptions, SqliteInbox, SqliteInboxOptions};

use crate::support::{Fixture, directory, keys, recorded, told};

/// INB-27: opening touches no table; the first use makes it.
#[tokio::test]
async fn the_table_is_made_by_the_first_use() {
    let fixture = Fixture::new().await;
    let tables = || -> i64 {
        fixture
            .stranger()
            .query_row("select count(*) from sqlite_schema", (), |row| row.get(0))
            .expect("a database")
    };
    assert_eq!(tables(), 0);
    assert_eq!(recorded(&fixture.inbox, &keys("order", 1)).await, 0);
    assert!(tables() > 0);
}

/// INB-27
#[tokio::test]
async fn a_table_that_may_not_be_made_is_named_with_the_command_that_makes_it() {
    let strict = SqliteInboxOptions::default().with_auto_create(false);
    let fixture = Fixture::with(strict.clone()).await;
    let one = keys("order", 1);
    let command = format!(
        "cargo xtask provision --sqlite {}",
        fixture.path().display()
    );
    for text in [
        told(fixture.inbox.verify().await),
        told(fixture.inbox.check(&one).await),
        told(fixture.inbox.record(&one).await),
    ] {
        assert!(
            text.contains(": nimbus_inbox;") && text.contains(&command),
            "{text}"
        );
    }
    fixture
        .stranger()
        .execute_batch(&strict.ddl())
        .expect("plain statements");
    fixture.inbox.verify().await.expect("a table made by hand");
    let outcome = fixture.inbox.record(&one).await.expect("a record");
    assert_eq!(outcome, [Recorded::Now]);
}

/// INB-28: a name of one's own, a keyword included.
#[tokio::test]
async fn two_tables_of_one_file_are_two_inboxes() {
    let fixture = Fixture::new().await;
    let options = SqliteInboxOptions::default();
    let database = fixture.inbox.database().clone();
    let order = options.with_table("Order").expect("a plain name");
    let other = SqliteInbox::on(database.clone(), order);
    let all = keys("order", 5);
    fixture.inbox.record(&all).await.expect("records");
    assert_eq!(recorded(&other, &all).await, 0);
    let outcome = other.record(&all).await.expect("records");
    assert_eq!(outcome, [Recorded::Now; 5]);

    // Names of tables have no case.
    let options = SqliteInboxOptions::default().with_auto_create(false);
    let same = options.with_table("ORDER").expect("a plain name");
    assert_eq!(recorded(&SqliteInbox::on(database, same), &all).await, 5);

    let options = SqliteInboxOptions::default().with_auto_create(false);
    let absent = options.with_table("absent").expect("a plain name");
    let absent = SqliteInbox::on(fixture.inbox.database().clone(), absent);
    let text = told(absent.verify().await);
    assert!(text.contains("inbox.db --table absent`"), "{text}");
}

/// INB-28
#[test]
fn a_name_that_is_more_than_a_name_is_refused() {
    for name in ["", "a b", "x\"; drop table y; --", "nimbus_queue"] {
        let outcome = SqliteInboxOptions::default().with_table(name);
        assert!(told(outcome).contains("inbox configure (sqlite)"));
    }
}

/// INB-11: a table that goes away is an error of the call that misses it, never "not processed".
#[tokio::test]
async fn a_table_that_is_dropped_is_missed_once_and_made_again() {
    let fixture = Fixture::new().await;
    let all = keys("order", 3);
    fixture.inbox.record(&all).await.expect("records");
    fixture
        .stranger()
        .execute_batch("drop table nimbus_inbox")
        .expect("nobody else writes");
    let error = fixture.inbox.check(&all).await.expect_err("it is gone");
    assert_eq!(error.operation(), Operation::Check);
    assert!(told::<()>(Err(error)).contains(": nimbus_inbox;"));
    let outcome = fixture.inbox.record(&all).await.expect("made again");
    assert_eq!(outcome, [Recorded::Now; 3]);
}

/// INB-26, INB-32: a table of the same name that somebody else made.
#[tokio::test]
async fn a_table_that_is_not_ours_is_told() {
    let directory = directory();
    let path = directory.path().join("inbox.db");
    Connection::open(&path)
        .and_then(|owner| owner.execute_batch("create table nimbus_inbox (id integer)"))
        .expect("a fresh file");
    let options = SqliteInboxOptions::default().with_auto_create(false);
    let inbox = SqliteInbox::open_with(&path, options)
        .await
        .expect("a database");
    for text in [
        told(inbox.verify().await),
        told(inbox.check(&keys("order", 1)).await),
        told(inbox.record(&keys("order", 1)).await),
    ] {
        assert!(
            text.contains("--check` tells how the table differs"),
            "{text}"
        );
    }
}

/// INB-01: SQLite would take U+FFFF for U+FFFD in such a file.
#[tokio::test]
async fn a_database_in_utf_16_is_refused() {
    let directory = directory();
    let path = directory.path().join("inbox.db");
    Connection::open(&path)
        .and_then(|owner| {
            owner.execute_batch("PRAGMA encoding = 'UTF-16le'; create table own (id integer)")
        })
        .expect("a fresh file");
    let inbox = SqliteInbox::open(&path).await.expect("a database");
    for text in [
        told(inbox.verify().await),
        told(inbox.record(&keys("order", 1)).await),
    ] {
        assert!(text.contains("UTF-16le"), "{text}");
    }
}

/// INB-26: a lock that others hold for too long passes.
#[tokio::test]
async fn a_file_that_others_keep_locked_is_a_transient_error() {
    let fixture = Fixture::new().await;
    fixture.inbox.verify().await.expect("a fresh file");
    let options = SqliteInboxOptions::default().with_busy_timeout(std::time::Duration::ZERO);
    let hasty = SqliteInbox::open_with(fixture.path(), options)
        .await
        .expect("the same file");
    let one = keys("order", 1);
    assert_eq!(recorded(&hasty, &one).await, 0);
    let stranger = fixture.stranger();
    stranger
        .execute_batch("BEGIN IMMEDIATE")
        .expect("nobody else writes");
    let begun = std::time::Instant::now();
    let error = hasty.record(&one).await.expect_err("it is locked");
    assert_eq!(error.kind(), ErrorKind::Transient, "{error:?}");
    assert!(
        begun.elapsed() < std::time::Duration::from_secs(4),
        "it waited as long as by default"
    );
    assert_eq!(recorded(&hasty, &one).await, 0, "a check waits for nobody");
    stranger.execute_batch("COMMIT").expect("it is open");
    let outcome = hasty.record(&one).await.expect("it is free");
    assert_eq!(outcome, [Recorded::Now]);
}

/// The caller's own database keeps its tables and its owner.
#[tokio::test]
async fn an_inbox_lives_beside_the_tables_of_its_host() {
    let directory = directory();
    let path = directory.path().join("billing.db");
    let database = Database::open(&path, OpenOptions::default())
        .await
        .expect("a fresh file");
    database
        .write(|tx| tx.execute_batch("create table invoice (number text) strict"))
        .await
        .expect("a fresh file");
    let inbox = SqliteInbox::on(database.clone(), SqliteInboxOptions::default());
    let all = keys("order", 3);
    inbox.record(&all).await.expect("records");
    drop(inbox);
    database
        .write(|tx| tx.execute("insert into invoice values ('1')", ()))
        .await
        .expect("the file is still open");
    let inbox = SqliteInbox::on(database, SqliteInboxOptions::default());
    assert_eq!(recorded(&inbox, &all).await, 3);
}
