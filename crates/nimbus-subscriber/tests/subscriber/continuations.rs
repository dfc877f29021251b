//! The older, broker-native deferral is drained, one message at a time.

use std::time::Duration;

use nimbus_inbox_testing::{BrokerOperation, BrokerOptions};
use nimbus_messaging::{
    Address, Headers, MessageType, SessionState, TransportCapabilities, property,
};
use nimbus_subscriber::{HandlerError, Handoff, RetryPolicy};

use crate::support::{
    Calls, Disturb, ENDPOINT, Journal, World, continuation, defer, deferred, request,
};

fn policy() -> RetryPolicy {
    RetryPolicy::fixed(Duration::from_secs(5))
}

/// SUB-17, SUB-16: the reference moves to the one in flight, its message is dispatched and settled,
/// then the reference is cleared and the next continuation requested; what is parked is newer and
/// comes last. The dispatch is exempt from the drain gate.
#[tokio::test(start_paused = true)]
async fn deferred_messages_are_handled_in_order_before_parked_ones() {
    let world = deferred(&["a", "b"], BrokerOptions::default()).await;
    world.park("c").await;
    request(&world, continuation()).await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    let running = process.start(process.builder(&world));
    world.settle().await;
    running.stop().await;
    let one = [
        "write state",
        "check",
        "record",
        "send ResolutionResponse",
        "complete",
        "write state",
    ];
    let mut expected = vec!["fence"];
    expected.extend(one);
    expected.extend(["send ContinuationRequest", "complete"]);
    expected.extend(one);
    expected.extend(["send ProcessDeferredRequest", "complete"]);
    assert_eq!(journal.since("fence")[..expected.len()], expected);
    assert_eq!(world.script.done(), ["a", "b", "c"]);
    assert_eq!(world.recorded()[..2], ["m-a", "m-b"]);
    let state = world.state();
    assert!(!state.has_deferred(), "{state:?}");
    world.assert_idle();
}

/// SUB-17: entries in either field mean draining: a fresh delivery is parked behind them and
/// requests the continuation that a crash may have lost.
#[tokio::test(start_paused = true)]
async fn a_fresh_delivery_waits_for_deferred_ones() {
    for in_flight in [false, true] {
        let world = deferred(&["a"], BrokerOptions::default()).await;
        if in_flight {
            let mut state = world.state();
            state.take_deferred();
            world.set_state(&state);
        }
        world.place("z").await;
        world.run().await;
        assert_eq!(world.script.done(), ["a", "z"]);
        assert_eq!(world.told()[0].line(), "DeferralResponse z");
        world.assert_idle();
    }
}

/// SUB-16, SUB-28: a drain gives the turn to what was deferred before anything was parked.
#[tokio::test(start_paused = true)]
async fn a_drain_leaves_the_turn_to_older_messages() {
    let world = deferred(&["a"], BrokerOptions::default()).await;
    world.park("b").await;
    world.request_drain().await;
    world.run().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    world.assert_idle();
}

/// SUB-17, SUB-10: a deferred message that fails blocks, is settled and gets its retry; the next one
/// waits for that.
#[tokio::test(start_paused = true)]
async fn a_deferred_message_that_fails_blocks_and_its_retry_resumes() {
    let world = deferred(&["a", "b"], BrokerOptions::default()).await;
    world.script.fail("a", 1);
    request(&world, continuation()).await;
    let running = world.start_with(|builder| builder.retry(policy()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let state = world.state();
    assert!(state.is_blocked_by(Some(&"a".into())));
    assert_eq!(state.blocked_by_message_id.as_deref(), Some("m-a"));
    assert_eq!(state.in_flight_sequence_number, None);
    assert_eq!(state.deferred_sequence_numbers.len(), 1);
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.begun(), ["a", "a", "b"]);
    assert_eq!(world.script.done(), ["a", "b"]);
    world.assert_idle();
}

/// SUB-17, SUB-10: after a crash between block and settlement the message that blocks is resumed: its
/// retry is scheduled and it is settled, without its handler.
#[tokio::test(start_paused = true)]
async fn a_deferred_message_that_owns_the_block_is_resumed() {
    let world = deferred(&["a", "b"], BrokerOptions::default()).await;
    world.script.fail("a", 1);
    let lost = Disturb::calls(BrokerOperation::Schedule).first(1);
    // No more writes either: the reference stays in flight.
    world.broker.add_hook(lost);
    let write = Disturb::calls(BrokerOperation::WriteState)
        .after(2)
        .first(1);
    world.broker.add_hook(write);
    request(&world, continuation()).await;
    let running = world.start_with(|builder| builder.retry(policy()));
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(world.lines(), ["ErrorResponse a", "ErrorResponse a"]);
    assert_eq!(world.broker.scheduled(ENDPOINT).len(), 1);
    assert_eq!(world.state().in_flight_sequence_number, None);
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    world.assert_idle();
}

/// SUB-17, SUB-16: a continuation that meets a blocked session pops nothing, and gives a message in
/// flight that doesn't own the block its turn back.
#[tokio::test(start_paused = true)]
async fn a_continuation_of_a_blocked_session_pops_nothing() {
    for in_flight in [false, true] {
        let world = deferred(&["a", "b"], BrokerOptions::default()).await;
        let before = SessionState {
            deferred_sequence_numbers: world.state().deferred_sequence_numbers,
            ..World::blocked_by("z")
        };
        let mut found = before.clone();
        if in_flight {
            found.take_deferred();
        }
        world.set_state(&found);
        request(&world, continuation()).await;
        let calls = Calls::count(&world);
        world.run().await;
        let fetched = calls.of(BrokerOperation::ReceiveDeferred);
        assert_eq!(fetched, u64::from(in_flight));
        assert_eq!(world.script.begun(), [""; 0]);
        assert_eq!(world.state(), before);

        world
            .send(World::command(MessageType::SkipRequest, "z"), "z")
            .await;
        world.run().await;
        assert_eq!(world.script.done(), ["a", "b"]);
        world.assert_idle();
    }
}

/// SUB-17: a redelivered continuation resumes the message in flight; one that was settled before the
/// crash is gone from the broker, and the next one follows.
#[tokio::test(start_paused = true)]
async fn a_redelivered_continuation_resumes_the_message_in_flight() {
    let world = deferred(&["a", "b"], BrokerOptions::default()).await;
    let mut state = world.state();
    state.take_deferred();
    world.set_state(&state);
    request(&world, continuation()).await;
    world.run().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    world.assert_idle();

    let world = deferred(&["b"], BrokerOptions::default()).await;
    world.set_state(&SessionState {
        in_flight_sequence_number: Some(4_711),
        ..world.state()
    });
    request(&world, continuation()).await;
    world.run().await;
    assert_eq!(world.script.done(), ["b"]);
    assert!(!world.state().has_deferred());
    world.assert_idle();
}

/// SUB-17: the event that a continuation names is verified, without case (SUB-04); another keeps its
/// turn, and a continuation for it is requested.
#[tokio::test(start_paused = true)]
async fn the_expected_event_is_verified() {
    for (expected, received) in [("A", 2), ("b", 4)] {
        let world = deferred(&["a"], BrokerOptions::default()).await;
        let named = Headers {
            event_id: Some(expected.into()),
            ..continuation()
        };
        request(&world, named).await;
        let report = world.run().await;
        assert_eq!(world.script.begun(), ["a"], "{expected}");
        // With another event: the continuation, the message given back, and both once more.
        assert_eq!(report.received, received, "{expected}");
        assert!(!world.state().has_deferred());
        world.assert_idle();
    }
}

/// SUB-17: more continuations than messages, and ones that come twice, handle each message once.
#[tokio::test(start_paused = true)]
async fn continuations_in_excess_double_nothing() {
    let world = deferred(&["a", "b", "c"], BrokerOptions::default()).await;
    for _ in 0..5 {
        request(&world, continuation()).await;
    }
    world.run().await;
    assert_eq!(world.script.begun(), ["a", "b", "c"]);
    assert_eq!(world.lines().len(), 3);
    world.assert_idle();
}

/// SUB-17, SUB-04: continuations come from the subscriber or the manager; another's is dead-lettered
/// and pops nothing, as is one that names no session.
#[tokio::test(start_paused = true)]
async fn continuations_of_others_are_dead_lettered() {
    for (from, session, reason) in [
        (None, Some("s"), "NotFromContinuation"),
        (Some(Address::RETRY), Some("s"), "NotFromContinuation"),
        (Some("continuation".into()), None, "NoSession"),
    ] {
        let world = deferred(&["a"], BrokerOptions::default()).await;
        let before = world.state();
        let forged = Headers {
            from,
            session_id: session.map(str::to_owned),
            ..continuation()
        };
        request(&world, forged).await;
        world.run().await;
        assert_eq!(world.broker.dead_letters(ENDPOINT)[0].reason, reason);
        assert_eq!(world.state(), before);
        assert_eq!(world.script.begun(), [""; 0]);
    }
    let world = deferred(&["a"], BrokerOptions::default()).await;
    let managed = Headers {
        from: Some("manager".into()),
        ..continuation()
    };
    request(&world, managed).await;
    world.run().await;
    assert_eq!(world.script.done(), ["a"]);
}

/// SUB-17, SUB-03: a deferred message that can't be read, or is no event, costs its own dead-lettering;
/// a duplicate, a discarded and a handed-off one are settled as well.
#[tokio::test(start_paused = true)]
async fn deferred_messages_that_do_not_succeed_are_settled() {
    let world = World::new().await;
    let event = |order| World::event(order).with_session("s").to(ENDPOINT);
    let mut garbled = event("garbled");
    garbled.body = b"{not json".to_vec().into();
    let mut miscounted = event("miscounted");
    miscounted.properties.set(property::RETRY_COUNT, "many");
    let mut misdirected = event("misdirected");
    misdirected
        .properties
        .set(property::MESSAGE_TYPE, "SkipRequest");
    let messages = vec![
        garbled,
        miscounted,
        misdirected,
        event("duplicate"),
        event("discarded"),
        event("handed-off"),
        event("last"),
    ];
    defer(&world, messages).await;
    world.record("m-duplicate").await;
    let script = &world.script;
    script.next("discarded", async |_| Err(HandlerError::discard("late")));
    script.next("handed-off", async |context| {
        context.mark_pending_handoff(Handoff::default());
        Ok(())
    });
    request(&world, continuation()).await;
    let report = world.run().await;
    // Six messages, and one continuation for each.
    assert_eq!(report.received, 12);
    let reasons: Vec<_> = world
        .broker
        .dead_letters(ENDPOINT)
        .into_iter()
        .map(|dead| dead.reason)
        .collect();
    let malformed = "MalformedMessage";
    assert_eq!(reasons, [malformed, malformed, "UnexpectedMessageType"]);
    let told = world.told();
    let lines: Vec<_> = told
        .iter()
        .skip(3)
        .map(crate::support::Told::line)
        .collect();
    assert_eq!(
        lines,
        [
            "SkipResponse duplicate",
            "SkipResponse discarded",
            "PendingHandoffResponse handed-off"
        ]
    );
    let state = world.state();
    assert!(state.blocked_by_handoff && state.in_flight_sequence_number.is_none());
    assert_eq!(state.deferred_sequence_numbers.len(), 1);
    assert_eq!(world.broker.messages(ENDPOINT).len(), 1);
}

/// SUB-17: on a transport without deferral the references stay, and a dead letter says so.
#[tokio::test(start_paused = true)]
async fn a_transport_without_deferral_keeps_the_references() {
    let world = World::with(
        BrokerOptions::default().with_capabilities(TransportCapabilities {
            deferral: false,
            session_store: true,
            scheduled_send: true,
            cancel_scheduled: true,
            redelivery_horizon: None,
        }),
    )
    .await;
    let before = SessionState {
        deferred_sequence_numbers: vec![7],
        ..SessionState::default()
    };
    world.set_state(&before);
    request(&world, continuation()).await;
    world.run().await;
    let dead = world.broker.dead_letters(ENDPOINT);
    assert_eq!(dead[0].reason, "DeferralUnsupported");
    assert_eq!(world.state(), before);
}
