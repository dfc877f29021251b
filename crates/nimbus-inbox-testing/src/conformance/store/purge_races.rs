use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join;
use nimbus_inbox_core::{Cutoff, Error, InboxKey};
use tokio::time::timeout;

use super::subject::{Store, Subject, at_once, bound, expect, keys, named};
use super::{StoreCase, cases};
use crate::conformance::dropping::pause_after;
use crate::key;

pub(super) const CASES: &[StoreCase] = cases![Nothing:
    purges_and_records_at_once_keep_apart,
    a_record_recreated_at_any_await_of_a_purge_survives,
    records_recreated_amid_other_purges_survive,
];

/// INB-23, INB-36: two replicas clean up while a third records.
async fn purges_and_records_at_once_keep_apart(subject: Subject) {
    let store = subject.open().await;
    let old = Arc::new(keys("Billing", "old", 300));
    store.record(&old).await;
    let cutoff = Cutoff::Before(store.pass(store.created_at(&old[299]).await).await);
    let fresh = keys("Billing", "fresh", 200);

    let busy = Arc::new(AtomicBool::new(false));
    let purges = [subject.open().await, subject.open().await].map(|store| {
        let (old, busy) = (Arc::clone(&old), Arc::clone(&busy));
        async move { purge_until_gone(&store, cutoff, &old, &busy).await }
    });
    let records = async {
        for batch in fresh.chunks(5) {
            let answers = store.record(batch).await;
            assert!(answers.iter().all(|answer| answer.is_now()));
        }
    };
    let (removed, ()) = join(at_once(purges), records).await;
    let removed: u64 = removed.iter().sum();

    // A purge that failed may have removed records that nobody counted.
    if busy.load(Ordering::SeqCst) {
        assert!(removed <= 300, "{removed} of 300 records purged");
    } else {
        assert_eq!(removed, 300, "records purged, over both purges");
    }
    let found = store.check(&fresh).await;
    let lost = found.iter().filter(|found| found.is_none()).count();
    assert_eq!(lost, 0, "fresh records that a purge removed");
}

async fn purge_until_gone(
    store: &Store,
    cutoff: Cutoff,
    old: &[InboxKey],
    busy: &AtomicBool,
) -> u64 {
    let mut removed = 0;
    while store.check(old).await.iter().any(Option::is_some) {
        match store.0.purge(&named("Billing"), cutoff, bound(20)).await {
            Ok(some) => removed += some,
            // Lost against the other purge; the next pass of a cleanup task tries again.
            Err(error) if error.is_transient() => busy.store(true, Ordering::SeqCst),
            Err(error) => expect("a purge beside another", Err(error)),
        }
    }
    removed
}

/// How long a call may wait for one that stands still before that one moves on. It decides how
/// much is tried, not what is right.
const PATIENCE: Duration = Duration::from_millis(50);

/// INB-23: never one that was recreated after the purge looked.
async fn a_record_recreated_at_any_await_of_a_purge_survives(subject: Subject) {
    let (here, there) = (subject.open().await, subject.open().await);
    let endpoint = named("Billing");
    for polls in 0.. {
        let one = key("Billing", &format!("order-{polls}"));
        here.record_one(&one).await;
        let instant = here.pass(here.created_at(&one).await).await;
        let cutoff = Cutoff::Before(instant);
        let mut purge = pin!(here.0.purge(&endpoint, cutoff, bound(10)));
        if let Some(answer) = pause_after(polls, purge.as_mut()).await {
            expect("an undisturbed purge", answer);
            return;
        }
        let mut meanwhile = pin!(async {
            there.purge_all("Billing", cutoff).await;
            there.record_one(&one).await
        });
        let recorded = match timeout(PATIENCE, meanwhile.as_mut()).await {
            Ok(recorded) => {
                expect_or_busy(purge.await);
                recorded
            }
            // It waits for what the purge has locked.
            Err(_) => {
                let (purged, recorded) = join(purge, meanwhile).await;
                expect_or_busy(purged);
                recorded
            }
        };
        // Without that the old record was still there, and the purge could take it.
        if recorded.is_now() {
            let created = here.check_one(&one).await;
            assert!(
                created.is_some_and(|created| created >= instant),
                "paused after {polls} polls, a purge removed a record that was recreated since: \
                 {created:?}"
            );
        }
    }
}

/// Takes a purge that lost against another for one that removed nothing.
fn expect_or_busy(purged: Result<u64, Error>) {
    match purged {
        Err(error) if error.is_transient() => {}
        other => {
            expect("a purge beside another", other);
        }
    }
}

/// INB-23: the same, where one statement does the work and races on the server.
async fn records_recreated_amid_other_purges_survive(subject: Subject) {
    let store = subject.open().await;
    let others = [subject.open().await, subject.open().await];
    for round in 0..4 {
        let all = keys("Billing", &format!("order-{round}"), 100);
        store.record(&all).await;
        let instant = store.pass(store.created_at(&all[99]).await).await;
        let recreated = Arc::new(AtomicBool::new(false));
        let purges = others.clone().map(|store| {
            let recreated = Arc::clone(&recreated);
            async move {
                while !recreated.load(Ordering::SeqCst) {
                    let cutoff = Cutoff::Before(instant);
                    expect_or_busy(store.0.purge(&named("Billing"), cutoff, bound(100)).await);
                    tokio::task::yield_now().await;
                }
            }
        });
        // Each comes right after whichever purge removed the old record.
        let recreation = async {
            for one in &all {
                while !store.record_one(one).await.is_now() {
                    tokio::task::yield_now().await;
                }
            }
            recreated.store(true, Ordering::SeqCst);
        };
        join(at_once(purges), recreation).await;
        for (one, created) in all.iter().zip(store.check(&all).await) {
            assert!(
                created.is_some_and(|created| created >= instant),
                "a purge removed {one:?}, which was recreated since: {created:?}"
            );
        }
        let newest = store.created_at(&all[99]).await;
        let cutoff = Cutoff::Before(store.pass(newest).await);
        store.purge_all("Billing", cutoff).await;
    }
}
