use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::join;
use nimbus_inbox_core::{Cutoff, InboxKey};

use super::subject::{Store, Subject, at_once, bound, expect, keys, named};
use super::{StoreCase, cases};

pub(super) const CASES: &[StoreCase] = cases![Nothing:
    purges_and_records_at_once_keep_apart,
    a_record_recreated_during_a_purge_survives,
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

/// INB-23
async fn a_record_recreated_during_a_purge_survives(subject: Subject) {
    let store = subject.open().await;
    let others = [
        subject.open().await,
        subject.open().await,
        subject.open().await,
    ];
    for one in keys("Billing", "order", 20) {
        store.record_one(&one).await;
        let instant = store.pass(store.created_at(&one).await).await;
        let purges = others.clone().map(|store| async move {
            for _ in 0..10 {
                let cutoff = Cutoff::Before(instant);
                let purged = store.0.purge(&named("Billing"), cutoff, bound(10)).await;
                match purged {
                    Err(error) if !error.is_transient() => expect("a purge", Err(error)),
                    _ => tokio::task::yield_now().await,
                }
            }
        });
        // Comes right after whichever purge removed the old record, amid the others.
        let recreation = async {
            while !store.record_one(&one).await.is_now() {
                tokio::task::yield_now().await;
            }
        };
        join(at_once(purges), recreation).await;
        let created = store.created_at(&one).await;
        assert!(created >= instant, "the recreated record has the old time");
    }
}
