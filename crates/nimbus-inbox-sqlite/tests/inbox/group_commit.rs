//! Records that come together share a commit.

use std::pin::pin;
use std::sync::mpsc;

use futures_util::future::join_all;
use futures_util::poll;
use nimbus_inbox_core::{Cutoff, InboxStore, InboxStoreExt, PurgeLimit, Recorded};
use nimbus_inbox_sqlite::{Durability, SqliteInboxOptions};
use nimbus_inbox_testing::key;

use crate::support::{Fixture, keys, recorded};

#[tokio::test]
async fn records_that_queue_up_share_one_commit() {
    let fixture = Fixture::new().await;
    let inbox = &fixture.inbox;
    inbox.verify().await.expect("a fresh file");
    let before = inbox.database().stats();

    let (started, is_started) = mpsc::channel();
    let (release, is_released) = mpsc::channel::<()>();
    let mut held = pin!(inbox.database().write(move |_| {
        started.send(()).expect("the test waits");
        is_released.recv().expect("the test lets go");
        Ok(())
    }));
    assert!(poll!(held.as_mut()).is_pending());
    is_started.recv().expect("the writer runs");

    let all = keys("order", 64);
    let mut records = pin!(join_all(all.iter().map(|key| inbox.record_one(key))));
    assert!(poll!(records.as_mut()).is_pending());
    release.send(()).expect("the writer waits");
    held.await.expect("an empty write");
    for outcome in records.await {
        assert_eq!(outcome.expect("a record"), Recorded::Now);
    }

    let after = inbox.database().stats();
    assert_eq!(after.writes - before.writes, 65);
    assert_eq!(
        after.commits - before.commits,
        2,
        "one for the held write, one for all records"
    );
    assert_eq!(recorded(&fixture.elsewhere().await, &all).await, 64);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn records_at_once_take_fewer_commits_than_records_in_turn() {
    let fixture = Fixture::new().await;
    fixture.inbox.verify().await.expect("a fresh file");
    let before = fixture.inbox.database().stats();
    let tasks: Vec<_> = keys("order", 1_000)
        .into_iter()
        .map(|key| {
            let inbox = fixture.inbox.clone();
            tokio::spawn(async move { inbox.record_one(&key).await })
        })
        .collect();
    for task in tasks {
        let outcome = task.await.expect("no panic");
        assert_eq!(outcome.expect("a record"), Recorded::Now);
    }
    let after = fixture.inbox.database().stats();
    assert_eq!(after.writes - before.writes, 1_000);
    let commits = after.commits - before.commits;
    assert!(commits < 500, "{commits} commits for 1,000 records");
}

/// INB-21: a record is on the disk when the call returns, unless that was given up.
#[tokio::test]
async fn a_commit_waits_for_the_disk_unless_asked_otherwise() {
    let normal = SqliteInboxOptions::default().with_durability(Durability::Normal);
    for (options, expected) in [(SqliteInboxOptions::default(), 2_i64), (normal, 1)] {
        let fixture = Fixture::with(options).await;
        let setting = fixture
            .inbox
            .database()
            .write(|tx| tx.query_row("PRAGMA synchronous", (), |row| row.get::<_, i64>(0)))
            .await;
        assert_eq!(setting.expect("a setting"), expected);
    }
}

/// INB-07: each operation is one read or one write of the file.
#[tokio::test]
async fn a_fresh_delivery_costs_one_write() {
    let fixture = Fixture::new().await;
    fixture.inbox.verify().await.expect("a fresh file");
    let before = fixture.inbox.database().stats();
    let key = key("Billing", "order-1");
    assert_eq!(fixture.inbox.check_one(&key).await.expect("a check"), None);
    fixture.inbox.record_one(&key).await.expect("a record");
    let after = fixture.inbox.database().stats();
    assert_eq!(after.writes - before.writes, 1);
    assert_eq!(after.commits - before.commits, 1);
}

/// INB-23: a purge reads no record of another endpoint, and none that it keeps.
#[tokio::test]
async fn a_purge_finds_its_records_by_the_index() {
    let fixture = Fixture::new().await;
    fixture
        .inbox
        .record(&keys("order", 3))
        .await
        .expect("records");
    let plan: String = fixture
        .stranger()
        .query_row(
            "explain query plan
             select identity_hash from nimbus_inbox where endpoint_id = ?1 and created_at < ?2
             order by created_at limit ?3",
            ("Billing", 1, 1),
            |row| row.get("detail"),
        )
        .expect("a plan");
    assert!(
        plan.contains("COVERING INDEX nimbus_inbox_created_at (endpoint_id=? AND created_at<?)"),
        "{plan}"
    );
    let billing = key("Billing", "any").endpoint().clone();
    let none = Cutoff::Before(nimbus_inbox_core::Timestamp::UNIX_EPOCH);
    let purged = fixture.inbox.purge(&billing, none, PurgeLimit::MAX).await;
    assert_eq!(purged.expect("a purge"), 0);
}
