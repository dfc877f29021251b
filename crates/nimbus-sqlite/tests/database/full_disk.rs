//! A page limit stands in for a volume that is full: SQLite reports both alike.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nimbus_sqlite::{Database, ErrorKind, OpenOptions};

use crate::support::{Fixture, HeldWriter, insert, insert_bytes, queue};

const TOO_LARGE: usize = 4 * 1024 * 1024;

fn small() -> OpenOptions {
    OpenOptions::default().with_max_pages(NonZeroU32::new(32).expect("not zero"))
}

#[tokio::test]
async fn a_full_disk_is_a_clear_error_and_loses_nothing() {
    let fixture = Fixture::with(small()).await;
    fixture
        .database
        .write(|tx| insert(tx, "earlier"))
        .await
        .expect("there is room");
    let error = fixture
        .database
        .write(|tx| insert_bytes(tx, "large", TOO_LARGE))
        .await
        .expect_err("no room");
    assert_eq!(error.kind(), ErrorKind::Full);
    assert!(error.is_configuration() && !error.is_transient() && !error.outcome_unknown());
    assert!(error.to_string().contains("full"), "{error}");
    fixture
        .database
        .write(|tx| insert(tx, "small"))
        .await
        .expect("small ones still fit");
    assert_eq!(fixture.names().await, ["earlier", "small"]);

    fixture.database.close().await;
    let roomy = Database::open(fixture.path(), OpenOptions::default())
        .await
        .expect("an intact file");
    roomy
        .write(|tx| insert_bytes(tx, "large", TOO_LARGE))
        .await
        .expect("room was made");
}

#[tokio::test]
async fn who_fills_the_disk_fails_alone() {
    let fixture = Fixture::with(small()).await;
    let held = HeldWriter::new(&fixture.database);
    let runs = Arc::new(AtomicUsize::new(0));
    let counted = |name: &'static str| {
        let (database, runs) = (fixture.database.clone(), Arc::clone(&runs));
        queue(async move {
            database
                .write(move |tx| {
                    runs.fetch_add(1, Ordering::SeqCst);
                    insert(tx, name)
                })
                .await
        })
    };
    let before = counted("before");
    let database = fixture.database.clone();
    let large = queue(async move {
        database
            .write(|tx| insert_bytes(tx, "large", TOO_LARGE))
            .await
    });
    let after = counted("after");
    held.release().await;
    before.await.expect("not disturbed");
    after.await.expect("not disturbed");
    assert_eq!(large.await.expect_err("no room").kind(), ErrorKind::Full);
    assert_eq!(fixture.names().await, ["after", "before"]);
    // SQLite rolls back the whole transaction, so that whoever ran before the
    // culprit ran twice. If this ever changes, so may the bound on closures.
    assert_eq!(runs.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn a_transaction_that_fills_the_disk_is_over_and_stores_nothing() {
    let fixture = Fixture::with(small()).await;
    let tx = fixture.database.transaction().await.expect("nobody else");
    tx.call(|tx| insert(tx, "first"))
        .await
        .expect("there is room");
    let error = tx
        .call(|tx| insert_bytes(tx, "large", TOO_LARGE))
        .await
        .expect_err("no room");
    assert_eq!(error.kind(), ErrorKind::Full);
    // It would commit by itself if it ran.
    let error = tx
        .call(|tx| insert(tx, "next"))
        .await
        .expect_err("the transaction is over");
    assert_eq!(error.kind(), ErrorKind::Full);
    let error = tx.commit().await.expect_err("there is nothing to commit");
    assert_eq!(error.kind(), ErrorKind::Full);
    assert!(!error.outcome_unknown());
    assert_eq!(fixture.names().await, [""; 0]);
    let next = fixture
        .database
        .transaction()
        .await
        .expect("the line moved on");
    next.call(|tx| insert(tx, "later"))
        .await
        .expect("there is room");
    next.commit().await.expect("there is room");
}
