//! What the store in memory adds to the contract that the conformance suite proves.

use std::time::Duration;

use nimbus_inbox_core::{Clock, Cutoff, InboxKey, InboxStore, InboxStoreExt, PurgeLimit};
use nimbus_inbox_testing::{InMemoryInbox, ManualClock, key};

fn billing(id: &str) -> InboxKey {
    key("BillingEndpoint", id)
}

/// INB-23: the age is turned into a cutoff on the injected clock, and the cutoff itself stays.
#[tokio::test]
async fn an_age_counts_on_the_injected_clock_strictly() {
    let clock = ManualClock::default();
    let store = InMemoryInbox::with_clock(clock.clone());
    store.record_one(&billing("1")).await.unwrap();
    assert_eq!(
        store.check_one(&billing("1")).await.unwrap(),
        Some(clock.now())
    );

    let hour = Duration::from_secs(3_600);
    let one = billing("1");
    let purge = || store.purge(one.endpoint(), Cutoff::OlderThan(hour), PurgeLimit::MAX);
    clock.advance(hour);
    assert_eq!(purge().await.unwrap(), 0);
    clock.advance(Duration::from_nanos(100));
    assert_eq!(purge().await.unwrap(), 1);
    assert!(store.is_empty());
}

/// INB-23: of records with one creation time, those recorded first go first.
#[tokio::test]
async fn records_of_one_instant_are_purged_in_the_order_they_were_recorded() {
    let clock = ManualClock::default();
    let store = InMemoryInbox::with_clock(clock.clone());
    let keys: Vec<_> = (0..100)
        .map(|number| billing(&number.to_string()))
        .collect();
    store.record(&keys).await.unwrap();
    assert_eq!(store.keys(), keys);

    clock.advance(Duration::from_secs(1));
    let limit = PurgeLimit::new(40).unwrap();
    let age = Cutoff::OlderThan(Duration::ZERO);
    let removed = store.purge(keys[0].endpoint(), age, limit).await.unwrap();
    assert_eq!(removed, 40);
    assert_eq!(store.keys(), keys[40..]);
}

#[tokio::test]
async fn clones_are_handles_on_the_same_records() {
    let store = InMemoryInbox::new();
    store.clone().record_one(&billing("1")).await.unwrap();
    assert_eq!(store.len(), 1);
}
