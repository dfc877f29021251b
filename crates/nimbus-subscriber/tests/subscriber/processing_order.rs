//! Check, handler, record, outcome, settlement: in this order and no more often.

use nimbus_inbox_core::InboxSetup;
use nimbus_inbox_testing::CountingStore;
use nimbus_subscriber::RetryPolicy;
use std::time::Duration;

use crate::support::{Journal, World};

/// INB-06: the handler runs after the check; record, outcome and settlement follow in this order.
#[tokio::test(start_paused = true)]
async fn a_fresh_delivery_is_recorded_then_reported_then_completed() {
    let world = World::new().await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    let (inbox, noting) = (world.inbox.clone(), journal.clone());
    world.script.next("a", async move |_| {
        assert!(inbox.is_empty(), "recorded before the handler returned");
        noting.note("handler");
        Ok(())
    });
    world.place("a").await;
    let running = process.start(process.builder(&world));
    world.settle().await;
    let report = running.stop().await;

    assert_eq!(
        journal.since("check"),
        [
            "check",
            "fence",
            "handler",
            "record",
            "send ResolutionResponse",
            "complete"
        ]
    );
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.recorded(), ["m-a"]);
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    assert_eq!((report.received, report.handled), (1, 1));
    world.assert_idle();
}

/// INB-07: in the full composition a fresh delivery costs one check and one record.
#[tokio::test(start_paused = true)]
async fn a_fresh_delivery_costs_one_check_and_one_record() {
    let world = World::new().await;
    world.place("a").await;
    let counts = counted(&world).await;
    assert_eq!((counts.check.calls, counts.check.keys), (1, 1));
    assert_eq!((counts.record.calls, counts.record.keys), (1, 1));
}

/// INB-07: a redelivery costs one check.
#[tokio::test(start_paused = true)]
async fn a_duplicate_costs_one_check() {
    let world = World::new().await;
    world.record("m-a").await;
    world.place("a").await;
    let counts = counted(&world).await;
    assert_eq!((counts.check.calls, counts.check.keys), (1, 1));
    assert_eq!(counts.record.calls, 0);
}

/// INB-07: a stand-in that succeeds costs one more record; both go to the store in one call.
#[tokio::test(start_paused = true)]
async fn a_retry_costs_its_check_and_two_records_in_one_call() {
    let world = World::new().await;
    world.script.fail("a", 1);
    world.place("a").await;
    let counts = counted(&world).await;
    assert_eq!(world.script.done(), ["a"]);
    // One check each for the event and for its retry, which is checked by its own id alone.
    assert_eq!((counts.check.calls, counts.check.keys), (2, 2));
    assert_eq!((counts.record.calls, counts.record.keys), (1, 2));
}

/// INB-07: a replayed parked copy costs at most one more check, and one more record.
#[tokio::test(start_paused = true)]
async fn a_replayed_copy_costs_one_more_check() {
    let world = World::new().await;
    world.park("a").await;
    world.request_drain().await;
    let counts = counted(&world).await;
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!((counts.check.calls, counts.check.keys), (1, 2));
    assert_eq!((counts.record.calls, counts.record.keys), (1, 2));
}

async fn counted(world: &World) -> nimbus_inbox_testing::StoreCounts {
    let store = CountingStore::new(world.inbox.clone());
    let process = world.process();
    let builder = process
        .builder_without_inbox(world)
        .retry(RetryPolicy::fixed(Duration::from_secs(1)))
        .inbox(InboxSetup::new(store.clone()));
    let running = process.start(builder);
    world.settle().await;
    running.stop().await;
    world.assert_idle();
    store.counts()
}

/// INB-08: a duplicate is recognised before the session's block is looked at.
#[tokio::test(start_paused = true)]
async fn a_duplicate_event_in_a_blocked_session_is_skipped_and_not_parked() {
    let world = World::new().await;
    world.set_state(&World::blocked_by("z"));
    world.record("m-a").await;
    world.place("a").await;
    world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a"]);
    assert_eq!(world.parked(), []);
    world.assert_idle();
}

/// INB-08: so is a handled retry whose session was unblocked since.
#[tokio::test(start_paused = true)]
async fn a_duplicate_retry_in_a_free_session_is_skipped_and_not_resolved() {
    let world = World::new().await;
    world.record("r-a").await;
    world.send(World::retry("a"), "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a"]);
    assert_eq!(world.script.begun(), [""; 0]);
    world.assert_idle();
}
