use nimbus_inbox_core::{Cutoff, Recorded};

use super::subject::{Subject, keys};
use super::{StoreCase, cases};

pub(super) const CASES: &[StoreCase] = cases![Durability:
    records_survive_the_last_handle,
    purged_records_stay_away,
];

/// INB-21
async fn records_survive_the_last_handle(subject: Subject) {
    let all = keys("Billing", "order", 10);
    let store = subject.open().await;
    store.record(&all[..5]).await;
    let times = store.check(&all).await;
    drop(store);

    let store = subject.open().await;
    assert_eq!(store.check(&all).await, times);
    let again = store.record(&all).await;
    assert_eq!(again[..5], [Recorded::Already; 5]);
    assert_eq!(again[5..], [Recorded::Now; 5]);
    drop(store);

    let store = subject.open().await;
    let found = store.check(&all).await;
    assert_eq!(found[..5], times[..5]);
    assert!(found[5..].iter().all(Option::is_some));
}

/// INB-23
async fn purged_records_stay_away(subject: Subject) {
    let all = keys("Billing", "order", 10);
    let store = subject.open().await;
    store.record(&all).await;
    let cutoff = store.pass(store.created_at(&all[9]).await).await;
    assert_eq!(
        store.purge("Billing", Cutoff::Before(cutoff), 100).await,
        10
    );
    drop(store);

    let store = subject.open().await;
    assert_eq!(store.check(&all).await, [None; 10]);
}
