//! A session's parked copies are handled in place, oldest first.

use std::time::Duration;

use nimbus_inbox_testing::{BrokerFault, BrokerOperation, BrokerOptions, BrokerPoint, BrokerWhen};
use nimbus_messaging::{
    Cas, Headers, MessageContent, MessageType, ParkedCopy, SessionState, property,
};
use nimbus_subscriber::{HandlerError, Handoff, RetryPolicy};

use crate::support::{Disturb, ENDPOINT, Journal, World, session};

fn policy() -> RetryPolicy {
    RetryPolicy::fixed(Duration::from_secs(5))
}

async fn worlds() -> [World; 2] {
    let stepwise = BrokerOptions::default().without_atomic_sessions();
    [World::new().await, World::with(stepwise).await]
}

/// SUB-18, INB-15: a copy is checked, handled, recorded (its source first), reported and removed
/// before the next; with the last one the count is 0 and the drain completes.
#[tokio::test(start_paused = true)]
async fn copies_are_handled_in_place_and_in_order() {
    for world in worlds().await {
        for order in ["a", "b", "c"] {
            world.park(order).await;
        }
        world.request_drain().await;
        let process = world.process();
        let journal = Journal::keep(&world, &process);
        let running = process.start(process.builder(&world));
        tokio::time::sleep(Duration::from_secs(1)).await;
        let report = running.stop().await;

        let one = ["check", "record", "send ResolutionResponse", "unpark"];
        let mut expected = vec!["fence"];
        for _ in 0..3 {
            expected.extend(one);
        }
        expected.push("complete");
        assert_eq!(journal.since("fence"), expected);
        assert_eq!(world.script.done(), ["a", "b", "c"]);
        assert_eq!(
            world.recorded(),
            ["m-a", "parked-0", "m-b", "parked-1", "m-c", "parked-2"]
        );
        assert_eq!(world.parked(), []);
        assert_eq!(world.state().deferred_count, 0);
        assert_eq!((report.handled, report.replayed), (3, 3));
        world.assert_idle();
    }
}

/// SUB-18: after 100 copies another drain is requested, before this one completes; none is lost and
/// no order.
#[tokio::test(start_paused = true)]
async fn a_long_drain_goes_on_in_another() {
    let world = World::new().await;
    let orders: Vec<_> = (0..250).map(|number| format!("order-{number}")).collect();
    for order in &orders {
        world.park(order).await;
    }
    world.request_drain().await;
    let report = world.run().await;
    assert_eq!(world.script.done(), orders);
    assert_eq!((report.received, report.replayed), (3, 250));
    assert_eq!(world.state().deferred_count, 0);
    world.assert_idle();
    let log = world.broker.log();
    let position = |operation, nth: usize| {
        let mut found = (0..log.len()).filter(|at| log[*at].call.operation == operation);
        found.nth(nth)
    };
    let is_drain = |at: usize| {
        let messages = &log[at].call.messages;
        let name = messages[0].properties.text(property::MESSAGE_TYPE);
        name.as_deref() == Some("ProcessDeferredRequest")
    };
    let request = (0..log.len())
        .filter(|at| log[*at].call.operation == BrokerOperation::Send && is_drain(*at))
        .nth(1);
    assert!(request < position(BrokerOperation::Complete, 0));
}

/// SUB-18: a copy that fails blocks the session and ends the drain; the rest stays parked until the
/// retry succeeds. SUB-10: the retry is scheduled before the block is written, since a redelivered
/// drain would stop at the block.
#[tokio::test(start_paused = true)]
async fn a_failing_copy_blocks_and_its_retry_resumes() {
    for world in worlds().await {
        world.park("a").await;
        let copy = World::event("b").with_session("s").with_headers(|headers| {
            headers.inbox_message_id = Some("m-b".to_owned());
            headers.deferral_sequence = Some(1);
        });
        world.park_envelope(copy.to(ENDPOINT)).await;
        world.park("c").await;
        world.script.fail("b", 1);
        world.request_drain().await;
        let process = world.process();
        let journal = Journal::keep(&world, &process);
        let running = process.start(process.builder(&world).retry(policy()));
        tokio::time::sleep(Duration::from_secs(1)).await;

        let notes = journal.since("send ErrorResponse");
        assert_eq!(
            notes,
            [
                "send ErrorResponse",
                "schedule RetryRequest",
                "unpark",
                "complete"
            ]
        );
        let state = world.state();
        assert!(state.is_blocked_by(Some(&"b".into())));
        assert_eq!(state.blocked_by_message_id.as_deref(), Some("m-b"));
        assert_eq!((state.deferred_count, world.parked().len()), (1, 1));
        let retry = Headers::read(&world.broker.scheduled(ENDPOINT)[0].1).unwrap();
        assert_eq!(retry.inbox_message_id.as_deref(), Some("m-b"));
        assert_eq!(retry.block_id, state.block_id);
        assert_eq!(retry.deferral_sequence, None);

        world.settle().await;
        running.stop().await;
        assert_eq!(world.script.done(), ["a", "b", "c"]);
        assert_eq!(world.state().deferred_count, 0);
        world.assert_idle();
    }
}

/// SUB-18: a repeat of a failing message that is parked behind it waits for its turn, and is then
/// reported as what it is.
#[tokio::test(start_paused = true)]
async fn a_parked_repeat_of_the_blocking_event_waits_for_its_turn() {
    for world in worlds().await {
        world.park("a").await;
        let repeat = World::event("a").with_message_id("repeat-of-a");
        let repeat = repeat.with_session("s").with_headers(|headers| {
            headers.inbox_message_id = Some("m-a".to_owned());
        });
        world.park_envelope(repeat.to(ENDPOINT)).await;
        world.park("b").await;
        world.script.fail("a", 1);
        world.request_drain().await;
        // Once more while the session is blocked.
        world.request_drain().await;
        world.run_with(|builder| builder.retry(policy())).await;
        assert_eq!(world.script.done(), ["a", "b"]);
        assert_eq!(
            world.lines(),
            [
                "ErrorResponse a",
                "ResolutionResponse a",
                "SkipResponse a",
                "ResolutionResponse b"
            ]
        );
        assert_eq!(world.state().deferred_count, 0);
        world.assert_idle();
    }
}

/// SUB-18: where block and removal are two steps and a crash comes between them, the redelivered
/// drain removes the copy of the event that blocks, and only that: left there, it would run the
/// event once more after an operator skipped it.
#[tokio::test(start_paused = true)]
async fn the_copy_of_the_blocking_event_does_not_stay_parked() {
    let world = World::with(BrokerOptions::default().without_atomic_sessions()).await;
    for order in ["a", "b"] {
        world.park(order).await;
    }
    world.script.fail("a", 1);
    let crash = Disturb::calls(BrokerOperation::Unpark).first(1);
    world.broker.add_hook(crash.at(BrokerPoint::Between));
    world.request_drain().await;
    world.run().await;
    assert_eq!(world.script.begun(), ["a"]);
    assert!(world.state().is_blocked_by(Some(&"a".into())));
    assert_eq!(world.state().deferred_count, 1);
    let left: Vec<_> = world
        .parked()
        .into_iter()
        .map(|copy| copy.reference.id)
        .collect();
    assert_eq!(left, ["parked-1"]);
    world.assert_idle();
}

/// SUB-18, INB-13: a copy that hands off blocks the session and ends the drain, unrecorded.
#[tokio::test(start_paused = true)]
async fn a_copy_that_hands_off_blocks() {
    let world = World::new().await;
    world.park("a").await;
    world.park("b").await;
    world.script.next("a", async |context| {
        context.mark_pending_handoff(Handoff::default());
        Ok(())
    });
    world.request_drain().await;
    world.run().await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(world.lines(), ["PendingHandoffResponse a"]);
    let state = world.state();
    assert!(state.blocked_by_handoff && state.is_blocked_by(Some(&"a".into())));
    assert_eq!((state.deferred_count, world.parked().len()), (1, 1));
    assert_eq!(world.recorded(), [""; 0]);
    world.assert_idle();
}

/// SUB-36: discarded, dead-lettered, unsupported, malformed and duplicate copies are settled too;
/// none of them stops the drain, and the resolver keeps their events.
#[tokio::test(start_paused = true)]
async fn copies_that_do_not_succeed_are_settled_as_well() {
    let world = World::new().await;
    for order in ["discarded", "dead", "duplicate"] {
        world.park(order).await;
    }
    let unsupported = World::event("unsupported").with_session("s");
    let unsupported = unsupported.with_headers(|h| h.event_type_id = Some("OrderLost".to_owned()));
    world.park_envelope(unsupported.to(ENDPOINT)).await;
    let mut garbled = World::event("garbled").with_session("s").to(ENDPOINT);
    garbled.body = b"{not json".to_vec().into();
    world.park_envelope(garbled).await;
    let mut miscounted = World::event("miscounted").with_session("s").to(ENDPOINT);
    miscounted.properties.set(property::RETRY_COUNT, "many");
    world.park_envelope(miscounted).await;
    world.park("last").await;
    world.record("m-duplicate").await;
    let script = &world.script;
    script.next("discarded", async |_| {
        Err(HandlerError::discard("too late"))
    });
    script.next("dead", async |_| Err(HandlerError::dead_letter("never")));
    world.request_drain().await;
    let report = world.run().await;

    assert_eq!(
        world.lines(),
        [
            "SkipResponse discarded",
            "ErrorResponse dead",
            "SkipResponse duplicate",
            "UnsupportedResponse unsupported",
            "ErrorResponse garbled",
            "ErrorResponse miscounted",
            "ResolutionResponse last"
        ]
    );
    let told = world.told();
    assert_eq!(
        told[1].headers.dead_letter_reason.as_deref(),
        Some("HandlerFailed")
    );
    assert_eq!(told[1].event_json(), Some(r#"{"order":"dead"}"#));
    assert_eq!(told[2].error_text(), Some("DuplicateDetected"));
    assert_eq!(
        told[4].headers.dead_letter_reason.as_deref(),
        Some("MalformedMessage")
    );
    assert_eq!(told[5].event_json(), Some(r#"{"order":"miscounted"}"#));
    assert_eq!(world.script.done(), ["last"]);
    assert_eq!(world.parked(), []);
    assert_eq!(world.state().deferred_count, 0);
    assert_eq!(
        (report.dead_lettered, report.duplicates, report.discarded),
        (3, 1, 1)
    );
    world.assert_idle();
}

/// INB-18: a copy is a duplicate by its source, and by its own id: a second copy of one message is
/// skipped, and so is a copy that was handled before its removal was written.
#[tokio::test(start_paused = true)]
async fn a_copy_is_a_duplicate_by_source_and_by_own_id() {
    let world = World::new().await;
    world.park("a").await;
    world.park("a").await;
    world.park("b").await;
    world.record("parked-2").await;
    world.request_drain().await;
    world.run().await;
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(
        world.lines(),
        ["ResolutionResponse a", "SkipResponse a", "SkipResponse b"]
    );
    assert_eq!(world.parked(), []);
}

/// SUB-16: nothing drains a blocked session.
#[tokio::test(start_paused = true)]
async fn a_drain_of_a_blocked_session_changes_nothing() {
    let world = World::new().await;
    world.park("b").await;
    let blocked = SessionState {
        deferred_count: 1,
        next_deferral_sequence: 1,
        ..World::blocked_by("a")
    };
    world.set_state(&blocked);
    world.request_drain().await;
    world.run().await;
    assert_eq!(world.script.begun(), [""; 0]);
    assert_eq!(world.state(), blocked);
    assert_eq!(world.parked().len(), 1);
    world.assert_idle();
}

/// SUB-18: a drain that names no session can't be done, however often it is delivered.
#[tokio::test(start_paused = true)]
async fn a_drain_without_a_session_is_dead_lettered() {
    let world = World::new().await;
    let request = Headers {
        message_type: MessageType::ProcessDeferredRequest,
        ..Headers::default()
    };
    world
        .publish(request.into_envelope(&MessageContent::default()))
        .await;
    world.run().await;
    assert_eq!(world.broker.dead_letters(ENDPOINT)[0].reason, "NoSession");
}

/// SUB-37: a count with nothing parked, left by a crash or by a .NET peer, is healed by the drain
/// that the next delivery requests; that delivery is handled, and later ones are not held back.
#[tokio::test(start_paused = true)]
async fn a_count_without_copies_is_healed() {
    let world = World::new().await;
    world.set_state(&SessionState {
        deferred_count: 3,
        next_deferral_sequence: 3,
        ..SessionState::default()
    });
    world.place("a").await;
    let running = world.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.state().deferred_count, 0);
    assert_eq!(world.state().next_deferral_sequence, 4);
    world.place("b").await;
    world.settle().await;
    let report = running.stop().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    assert_eq!(
        world.lines(),
        [
            "DeferralResponse a",
            "ResolutionResponse a",
            "ResolutionResponse b"
        ]
    );
    assert_eq!(report.parked, 1);
    world.assert_idle();

    // With nothing to handle at all.
    let world = World::new().await;
    world.set_state(&SessionState {
        deferred_count: 2,
        next_deferral_sequence: 2,
        ..SessionState::default()
    });
    world.request_drain().await;
    world.run().await;
    assert_eq!(world.state().deferred_count, 0);
    world.assert_idle();
}

/// SUB-37: copies that the count has forgotten are found: a drain reads until the store is empty.
#[tokio::test(start_paused = true)]
async fn copies_beyond_the_count_are_handled() {
    let world = World::new().await;
    for order in ["a", "b", "c"] {
        world.park(order).await;
    }
    world.set_state(&SessionState {
        deferred_count: 1,
        next_deferral_sequence: 3,
        ..SessionState::default()
    });
    world.request_drain().await;
    world.run().await;
    assert_eq!(world.script.done(), ["a", "b", "c"]);
    assert_eq!(world.parked(), []);
    assert_eq!(world.state().deferred_count, 0);
}

/// SUB-18: a removal names the generation: a copy that was parked again between the two steps of a
/// store without transactions stays, and is recognised by the next drain.
#[tokio::test(start_paused = true)]
async fn a_copy_parked_again_during_its_removal_stays() {
    let world = World::with(BrokerOptions::default().without_atomic_sessions()).await;
    world.park("a").await;
    let sessions = world.sessions();
    let copy = world.parked().remove(0);
    let (parked_again, done) = tokio::sync::oneshot::channel();
    let parked_again = std::sync::Mutex::new(Some(parked_again));
    let until = tokio_util::sync::CancellationToken::new();
    let hold = Disturb::calls(BrokerOperation::Unpark).first(1);
    world
        .broker
        .add_hook(hold.at(BrokerPoint::Between).hold(&until));
    let reached = Disturb::calls(BrokerOperation::Unpark).first(1);
    world
        .broker
        .add_hook(reached.at(BrokerPoint::Before).run(move || {
            let _ = parked_again
                .lock()
                .unwrap()
                .take()
                .map(|sender| sender.send(()));
        }));
    world.request_drain().await;
    let running = world.start();
    done.await.unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    park_again(&*sessions, &copy).await;
    until.cancel();
    world.settle().await;
    running.stop().await;

    assert_eq!(world.script.done(), ["a"]);
    // Skipped by the drain under way, whose next write conflicts, and by its redelivery.
    assert_eq!(
        world.lines(),
        ["ResolutionResponse a", "SkipResponse a", "SkipResponse a"]
    );
    assert_eq!(world.parked(), []);
    world.assert_idle();
}

async fn park_again(sessions: &dyn nimbus_messaging::SessionStore, copy: &ParkedCopy) {
    let current = sessions.fence(&session("s")).await.unwrap();
    let written = sessions
        .park(&session("s"), copy, &current.state, current.version)
        .await;
    assert!(matches!(written, Ok(Cas::Written(_))));
}

/// SUB-29, SUB-18: a stop lets the copy in work finish and takes no further one; the drain comes
/// back.
#[tokio::test(start_paused = true)]
async fn a_stop_ends_a_drain_between_two_copies() {
    let world = World::new().await;
    for order in ["a", "b"] {
        world.park(order).await;
        world.script.next(order, async |_| {
            tokio::time::sleep(Duration::from_secs(10)).await;
            Ok(())
        });
    }
    world.request_drain().await;
    let running = world.start();
    tokio::time::sleep(Duration::from_secs(5)).await;
    let report = running.stop().await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!((report.handled, report.left), (1, 1));
    world.run().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    world.assert_idle();
}

/// SUB-18, SUB-37, INB-40: a crash at any effect of a drain in which a copy fails loses and reorders
/// nothing, and nothing that was recorded runs again.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_effect_of_a_drain_loses_and_reorders_nothing() {
    let mut explored = 0;
    for atomic in [true, false] {
        for at in 0.. {
            let options = BrokerOptions::default();
            let world = World::with(if atomic {
                options
            } else {
                options.without_atomic_sessions()
            })
            .await;
            for order in ["a", "b", "c"] {
                world.park(order).await;
            }
            world.script.fail("b", 1);
            world.request_drain().await;
            world.place("d").await;
            let process = world.process();
            let strike = process.plan_crash(&world, Some(at));
            let first = process.start(process.builder(&world).retry(policy()));
            world.settle().await;
            if !strike.has_struck() {
                first.stop().await;
                break;
            }
            first.task.abort();
            explored += 1;
            world.run_with(|builder| builder.retry(policy())).await;

            let context = format!("atomic {atomic}, crash at point {at}: {:?}", world.lines());
            let mut order = world.script.done();
            order.dedup();
            assert_eq!(order, ["a", "b", "c", "d"], "{context}");
            assert_eq!(world.parked(), [], "{context}");
            let state = world.state();
            assert!(!state.is_blocked() && !state.has_deferred(), "{context}");
            world.assert_idle();
        }
    }
    assert!(explored > 100, "only {explored} crashes were tried");
}

/// SUB-37: a drain that meets an outage again and again is not dead-lettered, since no other trigger
/// may be left: it is tried again, ever more rarely, and what is parked is handled when the outage
/// is over.
#[tokio::test(start_paused = true)]
async fn a_drain_outlasts_an_outage() {
    for world in worlds().await {
        world.park("a").await;
        for _ in 0..15 {
            world.script.next("a", async |_| {
                Err(HandlerError::transient("the bank is closed"))
            });
        }
        world.request_drain().await;
        let running = world.start();
        tokio::time::sleep(Duration::from_secs(60)).await;
        let tries = world.script.begun().len();
        assert!((5..10).contains(&tries), "{tries} tries in a minute");
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        running.stop().await;
        assert_eq!(world.script.begun().len(), 16);
        assert_eq!(world.script.done(), ["a"]);
        assert_eq!(world.parked(), []);
        world.assert_idle();
    }
}

/// SUB-08: a state whose write was not confirmed is not believed: the retry that comes in the same
/// lane meets the block that was written after all.
#[tokio::test(start_paused = true)]
async fn an_unconfirmed_block_is_met_by_its_retry() {
    let world = World::new().await;
    world.park("a").await;
    world.script.fail("a", 1);
    let unpark = BrokerWhen::on(BrokerOperation::Unpark).nth(1);
    world.broker.inject(unpark, BrokerFault::answer_lost());
    world.request_drain().await;
    let policy = RetryPolicy::fixed(Duration::from_millis(1));
    world.run_with(|builder| builder.retry(policy)).await;
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.lines(), ["ErrorResponse a", "ResolutionResponse a"]);
    assert!(!world.state().is_blocked());
    world.assert_idle();
}
