//! The older, broker-native deferral is drained, one message at a time.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_testing::{BrokerOperation, BrokerOptions, Fault, When};
use nimbus_messaging::{
    Address, Envelope, Headers, MessageContent, MessageType, SessionState, Settlement, Transport,
    TransportCapabilities, property,
};
use nimbus_subscriber::{FailureClass, FailureClassifier, HandlerError, Handoff, RetryPolicy};

use crate::support::{Calls, Disturb, ENDPOINT, Journal, Logs, World};

/// A session whose events `orders` an older version deferred at the broker.
async fn deferred(orders: &[&str], options: BrokerOptions) -> World {
    let world = World::with(options).await;
    let messages = orders
        .iter()
        .map(|order| World::event(order).with_session("s").to(ENDPOINT));
    defer(&world, messages.collect()).await;
    world
}

/// Has the broker keep messages aside, and the state of session `s` refer to them.
async fn defer(world: &World, messages: Vec<Envelope>) {
    let expected = messages.len();
    for message in messages {
        world.publish(message).await;
    }
    let transport = world.broker.connect();
    let endpoint = EndpointId::new(ENDPOINT).unwrap();
    let mut lanes = transport.lanes(&endpoint).await.unwrap();
    let mut lane = lanes.accept_next().await.unwrap().unwrap();
    let mut numbers = Vec::new();
    for _ in 0..expected {
        let delivery = lane.receive(Duration::from_secs(1)).await.unwrap().unwrap();
        numbers.push(delivery.sequence_number.unwrap());
        delivery.receipt.settle(Settlement::Defer).await.unwrap();
    }
    lane.release().await.unwrap();
    world.set_state(&SessionState {
        deferred_sequence_numbers: numbers,
        ..SessionState::default()
    });
}

fn continuation() -> Headers {
    Headers {
        message_id: Some("continue".to_owned()),
        session_id: Some("s".to_owned()),
        message_type: MessageType::ContinuationRequest,
        from: Some(Address::CONTINUATION),
        ..Headers::default()
    }
}

async fn send(world: &World, request: Headers) {
    world
        .publish(request.into_envelope(&MessageContent::default()))
        .await;
}

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
    send(&world, continuation()).await;
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
    send(&world, continuation()).await;
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
    send(&world, continuation()).await;
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
        send(&world, continuation()).await;
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
    send(&world, continuation()).await;
    world.run().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    world.assert_idle();

    let world = deferred(&["b"], BrokerOptions::default()).await;
    world.set_state(&SessionState {
        in_flight_sequence_number: Some(4_711),
        ..world.state()
    });
    send(&world, continuation()).await;
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
        send(&world, named).await;
        let report = world.run().await;
        assert_eq!(world.script.begun(), ["a"], "{expected}");
        // With another event: the continuation, the message given back, and both once more.
        assert_eq!(report.received, received, "{expected}");
        assert!(!world.state().has_deferred());
        world.assert_idle();
    }
}

/// Panics once.
struct Panics(AtomicBool);

impl FailureClassifier for Panics {
    fn name(&self) -> &'static str {
        "panics"
    }

    fn classify(&self, _: &str, _: &HandlerError) -> Option<FailureClass> {
        assert!(self.0.swap(true, Ordering::SeqCst), "a planned panic");
        Some(FailureClass::Discard)
    }
}

/// SUB-17: a dispatch that ends unsettled puts the reference back to the front, whole and once: store
/// outage at check and record, transient failure, resolver outage, settlement that fails, panic.
#[tokio::test(start_paused = true)]
async fn an_unsettled_dispatch_puts_the_reference_back() {
    for case in [
        "check",
        "record",
        "transient",
        "resolver",
        "settlement",
        "fetch",
        "panic",
    ] {
        let world = deferred(&["a", "b"], BrokerOptions::default()).await;
        let numbers = world.state().deferred_sequence_numbers;
        let process = world.process();
        let fails = |operation| Disturb::calls(operation).first(1);
        match case {
            "check" => process
                .store
                .inject(When::check().first(1), Fault::transient()),
            "record" => process
                .store
                .inject(When::record().first(1), Fault::transient()),
            "transient" => world
                .script
                .next("a", async |_| Err(HandlerError::transient("no network"))),
            "resolver" => world
                .broker
                .add_hook(fails(BrokerOperation::Send).of_type(MessageType::ResolutionResponse)),
            "settlement" => world.broker.add_hook(fails(BrokerOperation::Complete)),
            "fetch" => world
                .broker
                .add_hook(fails(BrokerOperation::ReceiveDeferred)),
            _ => world.script.fail("a", 1),
        }
        send(&world, continuation()).await;
        let running = process.start(
            process
                .builder(&world)
                .classifier(Panics(AtomicBool::new(false))),
        );
        // Before anything is delivered again.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let state = world.state();
        assert_eq!(state.deferred_sequence_numbers, numbers, "{case}");
        assert_eq!(state.in_flight_sequence_number, None, "{case}");
        world.settle().await;
        running.stop().await;
        let mut order = world.script.done();
        order.dedup();
        assert_eq!(order, ["a", "b"], "{case}");
        assert!(!world.state().has_deferred(), "{case}");
        world.assert_idle();
    }
}

/// SUB-17: also a dispatch that is cancelled, at the drain deadline or with the run itself, puts the
/// reference back; the successor handles it.
#[tokio::test(start_paused = true)]
async fn a_cancelled_dispatch_puts_the_reference_back() {
    for dropped in [false, true] {
        let world = deferred(&["a", "b"], BrokerOptions::default()).await;
        let numbers = world.state().deferred_sequence_numbers;
        world
            .script
            .next("a", async |_| std::future::pending::<Result<(), _>>().await);
        send(&world, continuation()).await;
        let running = world.start_with(|b| b.drain_deadline(Duration::from_secs(1)));
        tokio::time::sleep(Duration::from_millis(50)).await;
        assert_eq!(world.state().in_flight_sequence_number, Some(numbers[0]));
        if dropped {
            running.drop_run();
            tokio::time::sleep(Duration::from_secs(2)).await;
        } else {
            running.stop().await;
        }
        let state = world.state();
        assert_eq!(state.deferred_sequence_numbers, numbers);
        assert_eq!(state.in_flight_sequence_number, None);
        world.run().await;
        assert_eq!(world.script.begun(), ["a", "a", "b"]);
        world.assert_idle();
    }
}

/// SUB-17: a restore that fails is logged and does not mask why the dispatch ended; the message in
/// flight is resumed, and its reference not doubled.
#[tokio::test(start_paused = true)]
async fn a_failed_restore_is_logged_and_the_message_resumed() {
    let logs = Logs::capture();
    let world = deferred(&["a", "b"], BrokerOptions::default()).await;
    let numbers = world.state().deferred_sequence_numbers;
    world
        .script
        .next("a", async |_| Err(HandlerError::transient("no network")));
    let restore = Disturb::calls(BrokerOperation::WriteState);
    world.broker.add_hook(restore.after(1).first(1));
    send(&world, continuation()).await;
    let running = world.start();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let state = world.state();
    assert_eq!(state.in_flight_sequence_number, Some(numbers[0]));
    assert_eq!(state.deferred_sequence_numbers, numbers[1..]);
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.begun(), ["a", "a", "b"]);
    let logged = logs.lines("could not be put back");
    assert_eq!(logged.len(), 1);
    assert!(logged[0].contains("ERROR"), "{}", logged[0]);
    assert_eq!(logs.lines("a handler reports an outage").len(), 1);
    world.assert_idle();
}

/// SUB-17: more continuations than messages, and ones that come twice, handle each message once.
#[tokio::test(start_paused = true)]
async fn continuations_in_excess_double_nothing() {
    let world = deferred(&["a", "b", "c"], BrokerOptions::default()).await;
    for _ in 0..5 {
        send(&world, continuation()).await;
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
        send(&world, forged).await;
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
    send(&world, managed).await;
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
    send(&world, continuation()).await;
    world.run().await;
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
    send(&world, continuation()).await;
    world.run().await;
    let dead = world.broker.dead_letters(ENDPOINT);
    assert_eq!(dead[0].reason, "DeferralUnsupported");
    assert_eq!(world.state(), before);
}

/// SUB-17, SUB-16, SUB-36: whatever effect a crash follows while deferred messages are drained, one
/// of which fails or is put back, none is lost, doubled or overtaken.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_effect_of_a_continuation_loses_and_reorders_nothing() {
    for transient in [false, true] {
        let explored = crate::support::crash_anywhere(60, async |options| {
            let world = deferred(&["a", "b"], options).await;
            if transient {
                let restored = HandlerError::transient("no network");
                world.script.next("a", async |_| Err(restored));
            } else {
                world.script.fail("a", 1);
            }
            world.park("c").await;
            send(&world, continuation()).await;
            world.place("d").await;
            (world, ["a", "b", "c", "d"].as_slice())
        })
        .await;
        assert!(explored > 120, "only {explored} crashes were tried");
    }
}
