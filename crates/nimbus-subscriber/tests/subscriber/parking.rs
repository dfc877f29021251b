//! Messages that wait their turn: the parked copy, the gate in front of a draining session.

use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_testing::{BrokerOperation, BrokerOptions, BrokerPoint};
use nimbus_messaging::{Headers, SessionState};
use nimbus_subscriber::RetryPolicy;

use crate::support::{Disturb, ENDPOINT, Journal, World};

fn policy() -> RetryPolicy {
    RetryPolicy::fixed(Duration::from_secs(5))
}

/// SUB-09, SUB-35: the resolver is told, then the copy is stored with the state, then the message
/// is completed. INB-16, SUB-34: the copy has an id of its own and names its source and its place.
#[tokio::test(start_paused = true)]
async fn a_message_behind_a_block_is_parked() {
    let world = World::new().await;
    world.set_state(&SessionState {
        deferred_count: 0,
        next_deferral_sequence: 7,
        ..World::blocked_by("z")
    });
    world.place("a").await;
    world.place("b").await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    let running = process.start(process.builder(&world));
    world.settle().await;
    running.stop().await;

    assert_eq!(
        journal.since("check")[..5],
        [
            "check",
            "fence",
            "send DeferralResponse",
            "park",
            "complete"
        ]
    );
    let parked = world.parked();
    assert_eq!(parked.len(), 2);
    for (copy, (sequence, source)) in parked.iter().zip([(7, "m-a"), (8, "m-b")]) {
        let headers = Headers::read(&copy.envelope).unwrap();
        assert_eq!(copy.reference.sequence, sequence);
        assert_eq!(headers.deferral_sequence, Some(sequence));
        assert_eq!(headers.inbox_message_id.as_deref(), Some(source));
        assert_eq!(
            headers.message_id.as_deref(),
            Some(copy.reference.id.as_str())
        );
        assert!(copy.reference.id.len() == 64 && copy.reference.id.is_ascii());
    }
    let state = world.state();
    assert_eq!((state.deferred_count, state.next_deferral_sequence), (2, 9));
    assert_eq!(world.recorded(), [""; 0]);
    world.assert_idle();
}

/// SUB-35: a crash between copy and state parks the same copy again at the same place.
#[tokio::test(start_paused = true)]
async fn a_crash_between_copy_and_state_parks_the_same_copy_again() {
    let world = World::with(BrokerOptions::default().without_atomic_sessions()).await;
    world.set_state(&World::blocked_by("z"));
    let lost = Disturb::calls(BrokerOperation::Park).first(1);
    world.broker.add_hook(lost.at(BrokerPoint::Between));
    world.place("a").await;
    world.place("b").await;
    world.run().await;
    let sources: Vec<_> = world
        .parked()
        .iter()
        .map(|copy| {
            let headers = Headers::read(&copy.envelope).unwrap();
            (copy.reference.sequence, headers.inbox_message_id.unwrap())
        })
        .collect();
    assert_eq!(sources, [(0, "m-a".to_owned()), (1, "m-b".to_owned())]);
    assert_eq!(world.state().deferred_count, 2);
    world.assert_idle();
}

/// INB-16, SUB-18: a copy that a .NET peer republished is an ordinary delivery for the session's
/// guard, and keeps its source when it is parked again.
#[tokio::test(start_paused = true)]
async fn a_republished_copy_keeps_its_source() {
    let world = World::new().await;
    world.set_state(&World::blocked_by("z"));
    let copy = World::event("a")
        .with_session("s")
        .with_message_id("copy-of-a");
    let copy = copy.with_headers(|headers| {
        headers.inbox_message_id = Some("m-a".to_owned());
        headers.deferral_sequence = Some(3);
    });
    world.publish(copy.clone().to(ENDPOINT)).await;
    world.run().await;
    let parked = Headers::read(&world.parked()[0].envelope).unwrap();
    assert_eq!(parked.inbox_message_id.as_deref(), Some("m-a"));
    assert_eq!(parked.deferral_sequence, Some(0));

    // In a free session it records its source first, and is a duplicate by it afterwards.
    let world = World::new().await;
    world.publish(copy.clone().to(ENDPOINT)).await;
    world
        .publish(copy.with_message_id("another-copy").to(ENDPOINT))
        .await;
    world.run().await;
    assert_eq!(world.recorded(), ["m-a", "copy-of-a"]);
    assert_eq!(world.lines(), ["ResolutionResponse a", "SkipResponse a"]);
}

/// SUB-36: a message that arrives between the unblocking of its session and the drain goes to the
/// tail instead of overtaking what is parked.
#[tokio::test(start_paused = true)]
async fn a_fresh_delivery_does_not_overtake_what_is_parked() {
    let world = Arc::new(World::new().await);
    world.script.fail("a", 1);
    let publisher = Arc::clone(&world);
    world.script.next("a", async move |_| {
        // It is in the queue before the drain is requested.
        publisher.place("d").await;
        Ok(())
    });
    for order in ["a", "b", "c"] {
        world.place(order).await;
    }
    let report = world.run_with(|builder| builder.retry(policy())).await;
    assert_eq!(world.script.done(), ["a", "b", "c", "d"]);
    assert_eq!(report.parked, 3);
    assert_eq!(world.told_of("d")[0].line(), "DeferralResponse d");
    assert_eq!(world.state().deferred_count, 0);
    world.assert_idle();
}

/// SUB-36, SUB-16: a delivery that is parked at the gate requests a drain itself, after a crash
/// that lost the request of whoever unblocked the session.
#[tokio::test(start_paused = true)]
async fn a_delivery_at_the_gate_requests_a_drain() {
    let world = World::new().await;
    world.park("a").await;
    world.place("b").await;
    world.run().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    world.assert_idle();
}

/// SUB-36: the count never goes up except by parking, whatever was stored before.
#[tokio::test(start_paused = true)]
async fn settling_never_raises_the_count() {
    let world = World::new().await;
    for order in ["a", "b"] {
        world.park(order).await;
    }
    world.script.fail("a", 1);
    world.set_state(&SessionState {
        deferred_count: 1,
        next_deferral_sequence: 9,
        ..SessionState::default()
    });
    world.request_drain().await;
    let running = world.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    running.stop().await;
    assert_eq!(world.state().deferred_count, 1);
}

/// SUB-34, INB-03: a message with an unusable id gets a random id for its copy and names no source;
/// the copy runs, and only its own id is recorded.
#[tokio::test(start_paused = true)]
async fn an_unusable_source_is_neither_carried_nor_recorded() {
    for id in [None, Some(" "), Some("x".repeat(600).as_str())] {
        let world = World::new().await;
        world.set_state(&World::blocked_by("z"));
        let mut message = World::event("a").with_session("s").to(ENDPOINT);
        message.message_id = id.map(str::to_owned);
        world.publish(message).await;
        world.run().await;
        let copy = world.parked().remove(0);
        let headers = Headers::read(&copy.envelope).unwrap();
        assert_eq!(headers.inbox_message_id, None);
        assert!(copy.reference.id.len() <= 64, "{}", copy.reference.id);

        world.set_state(&SessionState {
            deferred_count: 1,
            next_deferral_sequence: 1,
            ..SessionState::default()
        });
        world.request_drain().await;
        world.run().await;
        assert_eq!(world.script.done(), ["a"]);
        assert_eq!(world.recorded(), [copy.reference.id]);
        world.assert_idle();
    }
}

/// SUB-34, SUB-05: the name that is made for an event without one is stored with the copy, so that
/// the resolver hears of one event and not of two.
#[tokio::test(start_paused = true)]
async fn an_event_without_a_name_keeps_the_one_it_is_given() {
    let world = World::new().await;
    world.set_state(&World::blocked_by("z"));
    let message = World::event("a").with_session("s");
    let mut message = message.with_headers(|h| h.event_id = None).to(ENDPOINT);
    message.message_id = None;
    world.publish(message).await;
    world.run().await;
    world.set_state(&SessionState {
        deferred_count: 1,
        next_deferral_sequence: 1,
        ..SessionState::default()
    });
    world.request_drain().await;
    world.run().await;
    let told = world.told();
    assert_eq!(told.len(), 2);
    assert!(told[0].headers.event_id.is_some());
    assert_eq!(told[0].headers.event_id, told[1].headers.event_id);
    world.assert_idle();
}
