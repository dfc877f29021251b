//! The wrappers do what their scripts say, and nothing else.

use std::time::Duration;

use futures_util::FutureExt;
use nimbus_inbox_core::{
    Cutoff, Error, ErrorKind, InboxKey, InboxStore, InboxStoreExt, Operation, PurgeLimit, Recorded,
    Timestamp,
};
use nimbus_inbox_testing::{
    CallCount, CountingStore, Fault, FaultyStore, GateStore, InMemoryInbox, Point, When, key,
};
use tokio::time::Instant;

fn billing(id: &str) -> InboxKey {
    key("BillingEndpoint", id)
}

#[tokio::test]
async fn a_fault_strikes_the_numbered_call_of_its_operation_only() {
    let store = FaultyStore::new(InMemoryInbox::new());
    store.inject(When::record().nth(2), Fault::transient());

    assert_eq!(
        store.record_one(&billing("1")).await.unwrap(),
        Recorded::Now
    );
    assert_eq!(store.check_one(&billing("2")).await.unwrap(), None);
    let error = store.record_one(&billing("2")).await.unwrap_err();
    assert_eq!(
        (error.kind(), error.operation()),
        (ErrorKind::Transient, Operation::Record)
    );
    assert_eq!(store.check_one(&billing("2")).await.unwrap(), None);
    assert_eq!(
        store.record_one(&billing("2")).await.unwrap(),
        Recorded::Now
    );
}

#[tokio::test]
async fn a_fault_strikes_the_calls_with_its_key_until_it_is_healed() {
    let store = FaultyStore::new(InMemoryInbox::new());
    let broken = |operation| Error::configuration(operation, "no such table");
    store.inject(When::any().with_key(&billing("bad")), Fault::fail(broken));

    let batch = [billing("good"), billing("bad")];
    let error = store.record(&batch).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert_eq!(
        store.record_one(&billing("good")).await.unwrap(),
        Recorded::Now
    );
    store.heal();
    assert_eq!(
        store.record(&batch).await.unwrap(),
        [Recorded::Already, Recorded::Now]
    );
}

/// INB-26: the record exists although its caller was told that the outcome is unknown.
#[tokio::test]
async fn a_lost_answer_leaves_the_effect() {
    let memory = InMemoryInbox::new();
    let store = FaultyStore::new(memory.clone());
    store.inject(When::record().first(1), Fault::answer_lost());

    let error = store.record_one(&billing("1")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::OutcomeUnknown);
    assert_eq!(memory.keys(), [billing("1")]);
    assert_eq!(
        store.record_one(&billing("1")).await.unwrap(),
        Recorded::Already
    );
}

#[tokio::test(start_paused = true)]
async fn a_delaying_store_waits_before_and_after_the_effect() {
    let memory = InMemoryInbox::new();
    let store = FaultyStore::delaying(memory.clone(), Duration::from_secs(60));
    let start = Instant::now();
    let one = billing("1");
    let mut call = Box::pin(store.record_one(&one));

    assert!(call.as_mut().now_or_never().is_none());
    assert!(memory.is_empty());
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(call.as_mut().now_or_never().is_none());
    assert_eq!(memory.len(), 1);
    assert_eq!(call.await.unwrap(), Recorded::Now);
    assert_eq!(start.elapsed(), Duration::from_secs(120));
}

#[tokio::test(start_paused = true)]
async fn a_hanging_call_never_returns_and_its_neighbours_do() {
    let store = FaultyStore::new(InMemoryInbox::new());
    store.inject(When::check(), Fault::hang());

    let hour = Duration::from_secs(3_600);
    let hanging = tokio::time::timeout(hour, store.check(&[])).await;
    assert!(hanging.is_err());
    assert!(store.verify().await.is_ok());
}

#[tokio::test]
#[should_panic(expected = "injected panic of the purge call")]
async fn a_panicking_call_names_its_operation() {
    let store = FaultyStore::new(InMemoryInbox::new());
    store.inject(When::purge(), Fault::panic());
    let cutoff = Cutoff::Before(Timestamp::UNIX_EPOCH);
    let _ = store
        .purge(billing("1").endpoint(), cutoff, PurgeLimit::default())
        .await;
}

#[tokio::test]
async fn a_gate_holds_a_call_before_its_effect_until_it_is_released() {
    let memory = InMemoryInbox::new();
    let store = GateStore::new(memory.clone());
    let mut gate = store.hold(When::record(), Point::BeforeEffect);
    let call = tokio::spawn({
        let store = store.clone();
        async move { store.record_one(&billing("1")).await }
    });

    let held = gate.reached().await;
    assert_eq!(held.operation(), Operation::Record);
    assert_eq!(held.keys(), [billing("1")]);
    assert!(memory.is_empty() && !held.is_dropped());
    held.release();
    assert_eq!(call.await.unwrap().unwrap(), Recorded::Now);
}

#[tokio::test]
async fn a_gate_tells_that_a_held_call_was_dropped_after_its_effect() {
    let memory = InMemoryInbox::new();
    let store = GateStore::new(memory.clone());
    let mut gate = store.hold(When::record(), Point::AfterEffect);
    let call = tokio::spawn({
        let store = store.clone();
        async move { store.record_one(&billing("1")).await }
    });

    let mut held = gate.reached().await;
    call.abort();
    held.dropped().await;
    assert!(held.is_dropped());
    assert_eq!(memory.keys(), [billing("1")]);
}

#[tokio::test]
async fn a_dropped_gate_holds_nothing() {
    let store = GateStore::new(InMemoryInbox::new());
    drop(store.hold(When::any(), Point::BeforeEffect));
    assert_eq!(
        store.record_one(&billing("1")).await.unwrap(),
        Recorded::Now
    );
}

#[tokio::test]
async fn a_counting_store_counts_calls_and_keys_also_of_failed_and_dropped_calls() {
    let faulty = FaultyStore::new(InMemoryInbox::new());
    faulty.inject(When::record().nth(1), Fault::transient());
    faulty.inject(When::record().nth(2), Fault::hang());
    let store = CountingStore::new(faulty);

    let keys = [billing("1"), billing("2")];
    assert!(store.record(&keys).await.is_err());
    assert!(store.record(&keys).now_or_never().is_none());
    store.record(&keys).await.unwrap();
    store.check(&keys[..1]).await.unwrap();
    store.verify().await.unwrap();

    let counts = store.counts();
    assert_eq!(counts.record, CallCount { calls: 3, keys: 6 });
    assert_eq!(counts.check, CallCount { calls: 1, keys: 1 });
    assert_eq!(counts.verify, CallCount { calls: 1, keys: 0 });
    assert_eq!(counts.purge, CallCount::default());
}
