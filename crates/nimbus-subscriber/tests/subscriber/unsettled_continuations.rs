//! A deferred message whose dispatch ends before it is settled has its turn again.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nimbus_inbox_testing::{BrokerOperation, BrokerOptions, BrokerPoint, Fault, When};
use nimbus_messaging::MessageType;
use nimbus_subscriber::{FailureClass, FailureClassifier, HandlerError};

use crate::support::{Disturb, Logs, continuation, crash_anywhere, deferred, request};

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
        "fetch unanswered",
        "given back unanswered",
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
            "fetch unanswered" => world
                .broker
                .add_hook(fails(BrokerOperation::ReceiveDeferred).at(BrokerPoint::After)),
            "given back unanswered" => {
                let no_network = HandlerError::transient("no network");
                world.script.next("a", async |_| Err(no_network));
                world.broker.add_hook(fails(BrokerOperation::Abandon));
            }
            "fetch" => world
                .broker
                .add_hook(fails(BrokerOperation::ReceiveDeferred)),
            _ => world.script.fail("a", 1),
        }
        request(&world, continuation()).await;
        let running = process.start(
            process
                .builder(&world)
                // The lane is not idle by itself before the next continuation.
                .session_idle(Duration::from_secs(60))
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
        request(&world, continuation()).await;
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
    request(&world, continuation()).await;
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

/// SUB-17, SUB-16, SUB-36: whatever effect a crash follows while deferred messages are drained, one
/// of which fails or is put back, none is lost, doubled or overtaken.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_effect_of_a_continuation_loses_and_reorders_nothing() {
    for transient in [false, true] {
        let explored = crash_anywhere(60, async |options| {
            let world = deferred(&["a", "b"], options).await;
            if transient {
                let restored = HandlerError::transient("no network");
                world.script.next("a", async |_| Err(restored));
            } else {
                world.script.fail("a", 1);
            }
            world.park("c").await;
            request(&world, continuation()).await;
            world.place("d").await;
            (world, ["a", "b", "c", "d"].as_slice())
        })
        .await;
        assert!(explored > 120, "only {explored} crashes were tried");
    }
}
