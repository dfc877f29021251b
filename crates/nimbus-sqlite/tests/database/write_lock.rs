//! Who holds the file's write lock, and how long others wait for it.

use std::time::Duration;

use nimbus_sqlite::{ErrorKind, OpenOptions, rusqlite};

use tokio::task::JoinSet;

use crate::support::{Fixture, insert, queue, queue_insert};

fn impatient() -> OpenOptions {
    OpenOptions::default()
        .with_busy_timeout(Duration::from_millis(20))
        .with_transaction_wait(Duration::from_millis(20))
}

#[tokio::test]
async fn a_lock_that_another_process_keeps_is_transient() {
    let fixture = Fixture::with(impatient()).await;
    let stranger = fixture.stranger();
    stranger
        .execute_batch("BEGIN IMMEDIATE")
        .expect("nobody else writes");
    let error = fixture
        .database
        .write(|tx| insert(tx, "a"))
        .await
        .expect_err("the lock is taken");
    assert_eq!(error.kind(), ErrorKind::Transient);
    assert!(error.is_transient() && !error.is_configuration() && !error.outcome_unknown());
    let error = fixture
        .database
        .transaction()
        .await
        .expect_err("the lock is taken");
    assert_eq!(error.kind(), ErrorKind::Transient);
    stranger.execute_batch("ROLLBACK").expect("it is open");
    fixture
        .database
        .write(|tx| insert(tx, "a"))
        .await
        .expect("the lock is free");
    fixture
        .database
        .transaction()
        .await
        .expect("the lock is free")
        .rollback()
        .await
        .expect("it is open");
}

#[tokio::test]
async fn everyone_who_waited_long_enough_is_told() {
    let fixture = Fixture::with(impatient()).await;
    let stranger = fixture.stranger();
    stranger
        .execute_batch("BEGIN IMMEDIATE")
        .expect("nobody else writes");
    let mut tasks = JoinSet::new();
    for name in ["a", "b", "c"] {
        let database = fixture.database.clone();
        tasks.spawn(async move { database.write(move |tx| insert(tx, name)).await });
    }
    for outcome in tasks.join_all().await {
        assert_eq!(
            outcome.expect_err("the lock is taken").kind(),
            ErrorKind::Transient
        );
    }
}

#[tokio::test]
async fn a_transaction_outwaits_the_busy_timeout() {
    let options = OpenOptions::default()
        .with_busy_timeout(Duration::from_millis(1))
        .with_transaction_wait(Duration::from_secs(60));
    let fixture = Fixture::with(options).await;
    let stranger = fixture.stranger();
    stranger
        .execute_batch("BEGIN IMMEDIATE")
        .expect("nobody else writes");
    let database = fixture.database.clone();
    let waiting = queue(async move { database.transaction().await });
    // A write gives up in the meantime, which shows that its patience is over.
    fixture
        .database
        .write(|tx| insert(tx, "a"))
        .await
        .expect_err("the lock is taken");
    stranger.execute_batch("COMMIT").expect("it is open");
    waiting
        .await
        .expect("the lock is free")
        .rollback()
        .await
        .expect("it is open");
}

#[tokio::test]
async fn a_write_behind_an_open_transaction_waits_as_long_as_for_another_process() {
    let fixture = Fixture::with(impatient()).await;
    let tx = fixture.database.transaction().await.expect("nobody else");
    let error = fixture
        .database
        .write(|tx| insert(tx, "a"))
        .await
        .expect_err("the lock is taken");
    assert_eq!(error.kind(), ErrorKind::Transient);
    assert!(
        error.to_string().contains("a transaction of this process"),
        "{error}"
    );
    tx.rollback().await.expect("it is open");
    fixture
        .database
        .write(|tx| insert(tx, "a"))
        .await
        .expect("the lock is free");
}

#[tokio::test]
async fn a_write_goes_on_as_soon_as_the_transaction_before_it_is_over() {
    let fixture = Fixture::new().await;
    let tx = fixture.database.transaction().await.expect("nobody else");
    tx.call(|tx| insert(tx, "first")).await.expect("a new name");
    let write = queue_insert(&fixture.database, "second");
    tx.commit().await.expect("it is open");
    write.await.expect("the lock is free");
    assert_eq!(fixture.names().await, ["first", "second"]);
}

#[tokio::test]
async fn a_transaction_that_nobody_waits_for_any_more_gives_up_its_place() {
    let options = OpenOptions::default()
        .with_busy_timeout(Duration::from_millis(20))
        .with_transaction_wait(Duration::from_secs(24 * 60 * 60));
    let fixture = Fixture::with(options).await;
    let stranger = fixture.stranger();
    stranger
        .execute_batch("BEGIN IMMEDIATE")
        .expect("nobody else writes");
    let database = fixture.database.clone();
    let in_line = queue(async move { database.transaction().await });
    let error = fixture
        .database
        .write(|tx| insert(tx, "a"))
        .await
        .expect_err("somebody is first");
    assert_eq!(
        error.extended_code(),
        None,
        "it didn't come as far as SQLite"
    );
    drop(in_line);
    // Once the place is free, only the stranger's lock is in the way.
    loop {
        let error = fixture
            .database
            .write(|tx| insert(tx, "a"))
            .await
            .expect_err("the lock is taken");
        if error.extended_code() == Some(rusqlite::ffi::SQLITE_BUSY) {
            break;
        }
    }
}
