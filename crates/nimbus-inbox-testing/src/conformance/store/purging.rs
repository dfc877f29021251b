use std::time::Duration;

use nimbus_inbox_core::{Cutoff, PurgeLimit, Recorded, Timestamp};

use super::subject::{Store, Subject, keys};
use super::{StoreCase, cases};
use crate::key;

pub(super) const CASES: &[StoreCase] = cases![Nothing:
    a_record_at_the_cutoff_stays,
    the_oldest_go_first_within_the_limit,
    only_one_endpoint_is_purged,
    an_age_counts_on_the_clock_that_stamps_the_records,
    cutoffs_beyond_all_records_remove_nothing,
    a_purged_key_can_be_recorded_again,
    more_records_than_one_call_removes_go_in_several,
];

/// INB-23: strictly older.
async fn a_record_at_the_cutoff_stays(subject: Subject) {
    let store = subject.open().await;
    let one = key("Billing", "order-1");
    store.record_one(&one).await;
    let created = store.created_at(&one).await;
    let removed = store.purge("Billing", Cutoff::Before(created), 10).await;
    assert_eq!(removed, 0, "records purged that were created at the cutoff");
    assert_eq!(store.created_at(&one).await, created);

    let later = created.saturating_add(Duration::from_millis(1));
    assert_eq!(store.purge("Billing", Cutoff::Before(later), 10).await, 1);
    assert_eq!(store.check_one(&one).await, None);
}

/// INB-23
async fn the_oldest_go_first_within_the_limit(subject: Subject) {
    let store = subject.open().await;
    let all = keys("Billing", "order", 6);
    // Not in the order of their ids or hashes.
    let by_age = [3, 0, 5, 1, 4, 2].map(|number| all[number].clone());
    let mut last = Timestamp::UNIX_EPOCH;
    for one in &by_age {
        store.record_one(one).await;
        last = store.created_at(one).await;
        store.pass(last).await;
    }

    // The youngest stands at the cutoff.
    let cutoff = Cutoff::Before(last);
    for gone in [2, 4, 5, 5] {
        store.purge("Billing", cutoff, 2).await;
        let left = store.check(&by_age).await;
        let left: Vec<_> = left.iter().map(Option::is_some).collect();
        let expected: Vec<_> = (0..6).map(|number| number >= gone).collect();
        assert_eq!(left, expected, "left of six records, oldest first");
    }
    assert_eq!(store.purge("Billing", cutoff, 2).await, 0);
}

/// INB-22, INB-23
async fn only_one_endpoint_is_purged(subject: Subject) {
    let store = subject.open().await;
    let names = [
        "Billing",
        "billing",
        "Billing ",
        " Billing",
        "Billing\u{0}",
        "Bill%",
        "Billin_",
    ];
    let mut last = Timestamp::UNIX_EPOCH;
    for name in names {
        let mine = keys(name, "order", 5);
        store.record(&mine).await;
        last = last.max(store.created_at(&mine[4]).await);
    }
    let cutoff = Cutoff::Before(store.pass(last).await);
    for (number, name) in names.iter().enumerate() {
        assert_eq!(store.purge(name, cutoff, 1_000).await, 5, "of {name:?}");
        for (other_number, other) in names.iter().enumerate() {
            let left = left_of(&store, other).await;
            let expected = if other_number <= number { 0 } else { 5 };
            assert_eq!(left, expected, "left of {other:?} after purging {name:?}");
        }
    }
    assert_eq!(store.purge("Never used", cutoff, 1_000).await, 0);
}

async fn left_of(store: &Store, endpoint: &str) -> usize {
    let found = store.check(&keys(endpoint, "order", 5)).await;
    found.iter().flatten().count()
}

/// INB-23
async fn an_age_counts_on_the_clock_that_stamps_the_records(subject: Subject) {
    let store = subject.open().await;
    let one = key("Billing", "order-1");
    store.record_one(&one).await;
    let hour = Cutoff::OlderThan(Duration::from_secs(3_600));
    let removed = store.purge("Billing", hour, 10).await;
    assert_eq!(removed, 0, "an hour old at once");
    store.created_at(&one).await;

    // As soon as the clock has passed its creation the record is older than no time at all.
    store.pass(store.created_at(&one).await).await;
    let none = Cutoff::OlderThan(Duration::ZERO);
    while store.purge("Billing", none, 10).await == 0 {
        tokio::task::yield_now().await;
    }
    assert_eq!(store.check_one(&one).await, None);
}

/// INB-23
async fn cutoffs_beyond_all_records_remove_nothing(subject: Subject) {
    let store = subject.open().await;
    let one = key("Billing", "order-1");
    let epoch = Cutoff::Before(Timestamp::UNIX_EPOCH);
    assert_eq!(store.purge("Billing", epoch, 10).await, 0, "of nothing");
    store.record_one(&one).await;
    let centuries = Duration::from_secs(500 * 365 * 86_400);
    for cutoff in [
        epoch,
        Cutoff::OlderThan(centuries),
        Cutoff::OlderThan(Duration::MAX),
    ] {
        let removed = store.purge("Billing", cutoff, 10).await;
        assert_eq!(removed, 0, "records purged by {cutoff:?}");
    }
    store.created_at(&one).await;
}

/// INB-21, INB-23
async fn a_purged_key_can_be_recorded_again(subject: Subject) {
    let store = subject.open().await;
    let one = key("Billing", "order-1");
    store.record_one(&one).await;
    let first = store.created_at(&one).await;
    let cutoff = store.pass(first).await;
    assert_eq!(store.purge("Billing", Cutoff::Before(cutoff), 10).await, 1);

    assert_eq!(store.record_one(&one).await, Recorded::Now);
    let second = store.created_at(&one).await;
    assert!(second >= cutoff, "the record came back with its old time");
    assert_eq!(store.purge("Billing", Cutoff::Before(cutoff), 10).await, 0);
    assert_eq!(store.created_at(&one).await, second);
}

/// INB-23, INB-36
async fn more_records_than_one_call_removes_go_in_several(subject: Subject) {
    let store = subject.open().await;
    let all = keys("Billing", "order", 2_500);
    for batch in all.chunks(500) {
        store.record(batch).await;
    }
    let cutoff = store.pass(store.created_at(&all[2_499]).await).await;
    let cutoff = Cutoff::Before(cutoff);
    let default = PurgeLimit::default().get();
    let first = store.purge("Billing", cutoff, default).await;
    assert_eq!(first, u64::from(default), "a full batch was there");
    assert_eq!(store.purge_all("Billing", cutoff).await, 1_500);
    assert!(store.check(&all).await.iter().all(Option::is_none));
}
