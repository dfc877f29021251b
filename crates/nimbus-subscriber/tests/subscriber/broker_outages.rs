//! A broker that does not answer is waited for without a busy loop.

use std::time::Duration;

use nimbus_inbox_testing::{BrokerOperation, BrokerOptions, BrokerPoint};
use nimbus_messaging::TransportError;
use nimbus_subscriber::SubscriberErrorKind;

use crate::support::{Calls, Disturb, World};

/// SUB-30: waiting for sessions fails: it is tried again ever more rarely, readiness says why, and
/// work goes on when the broker is back. On paused time a busy loop would never let time pass.
#[tokio::test(start_paused = true)]
async fn a_lost_connection_is_tried_again_ever_more_rarely() {
    let world = World::new().await;
    let calls = Calls::count(&world);
    world
        .broker
        .add_hook(Disturb::calls(BrokerOperation::Accept));
    world.place("a").await;
    let running = world.start();
    world.settle().await;
    let tries = calls.of(BrokerOperation::Accept);
    assert!((100..200).contains(&tries), "{tries} tries in an hour");
    let ready = running.health.readiness();
    assert!(!ready.ok && ready.reason.contains("broker"), "{ready:?}");
    assert!(running.health.liveness().ok);

    world.broker.clear_hooks();
    world.settle().await;
    assert!(running.health.readiness().ok);
    running.stop().await;
    assert_eq!(world.script.done(), ["a"]);
    world.assert_idle();
}

/// SUB-31: a broker that is back without any work for this endpoint makes it ready all the same.
#[tokio::test(start_paused = true)]
async fn an_idle_endpoint_is_ready_again() {
    let world = World::new().await;
    world.broker.add_hook(
        Disturb::calls(BrokerOperation::Accept)
            .at(BrokerPoint::Called)
            .first(5),
    );
    let running = world.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!running.health.readiness().ok);
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(running.health.readiness().ok);
    running.stop().await;
}

/// SUB-30: a session that is accepted but can't be received from is not taken again at once.
#[tokio::test(start_paused = true)]
async fn a_session_that_can_not_be_received_from_makes_no_busy_loop() {
    let world = World::new().await;
    let calls = Calls::count(&world);
    world
        .broker
        .add_hook(Disturb::calls(BrokerOperation::Receive));
    world.place("a").await;
    let running = world.start();
    world.settle().await;
    assert!(calls.of(BrokerOperation::Receive) <= 3_700);
    world.broker.clear_hooks();
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.done(), ["a"]);
    world.assert_idle();
}

/// SUB-30, SUB-38: settlements that are never confirmed neither loop nor run the handler again.
#[tokio::test(start_paused = true)]
async fn unconfirmed_settlements_make_no_busy_loop() {
    let options = BrokerOptions::default().with_delivery_limit(None);
    let world = World::with(options).await;
    let calls = Calls::count(&world);
    world
        .broker
        .add_hook(Disturb::calls(BrokerOperation::Complete));
    world.place("a").await;
    let running = world.start();
    world.settle().await;
    assert!(calls.of(BrokerOperation::Receive) <= 3_700);
    world.broker.clear_hooks();
    world.settle().await;
    let report = running.stop().await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!((report.handled, report.failed), (1, 0));
    world.assert_idle();
}

/// SUB-30: the same when neither the work nor the abandonment is confirmed.
#[tokio::test(start_paused = true)]
async fn unconfirmed_abandonments_make_no_busy_loop() {
    let options = BrokerOptions::default().with_delivery_limit(None);
    let world = World::with(options).await;
    let calls = Calls::count(&world);
    for operation in [BrokerOperation::Fence, BrokerOperation::Abandon] {
        world.broker.add_hook(Disturb::calls(operation));
    }
    world.place("a").await;
    let running = world.start();
    world.settle().await;
    assert!(calls.of(BrokerOperation::Receive) <= 3_700);
    assert_eq!(world.script.begun(), [""; 0]);
    world.broker.clear_hooks();
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.done(), ["a"]);
    world.assert_idle();
}

/// SUB-30: a connection that is cut while everything waits is taken up again.
#[tokio::test(start_paused = true)]
async fn a_cut_connection_is_taken_up_again() {
    let world = World::new().await;
    let running = world.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.broker.cut_connections();
    world.place("a").await;
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.done(), ["a"]);
    world.assert_idle();
}

/// SUB-38: a settlement that fails after the handler succeeded is no failure of the handler:
/// nothing is reported as failed, and the redelivery is skipped as a duplicate.
#[tokio::test(start_paused = true)]
async fn a_failed_settlement_is_no_failed_handler() {
    let errors: [fn() -> TransportError; 2] = [
        || TransportError::lock_lost("injected by a test"),
        || TransportError::transient("injected by a test"),
    ];
    for error in errors {
        for point in [BrokerPoint::Before, BrokerPoint::After] {
            let world = World::new().await;
            let fault = Disturb::calls(BrokerOperation::Complete).first(1);
            world.broker.add_hook(fault.at(point).error(error));
            world.place("a").await;
            let report = world.run().await;
            assert_eq!(world.script.begun(), ["a"]);
            assert_eq!((report.handled, report.failed), (1, 0));
            assert_eq!((report.dead_lettered, report.abandoned), (0, 0));
            let lines = world.lines();
            match point {
                BrokerPoint::Before => {
                    assert_eq!(lines, ["ResolutionResponse a", "SkipResponse a"]);
                }
                _ => assert_eq!(lines, ["ResolutionResponse a"]),
            }
            world.assert_idle();
        }
    }
}

/// INB-06: an outcome that the resolver's queue does not take leaves the message unsettled; the
/// work was recorded and does not run again.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_can_not_be_sent_leaves_the_message() {
    let world = World::new().await;
    world.place("a").await;
    world
        .broker
        .add_hook(Disturb::calls(BrokerOperation::Send).first(1));
    let report = world.run().await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(world.lines(), ["SkipResponse a"]);
    assert_eq!((report.abandoned, report.duplicates), (1, 1));
    world.assert_idle();
}

/// SUB-31: a transport whose code fails while sessions are waited for does not leave a subscriber
/// that runs and hears nothing: `run` ends with an error, and health says so.
#[tokio::test(start_paused = true)]
async fn a_subscriber_that_can_no_longer_receive_ends() {
    let world = World::new().await;
    let accepts = Disturb::calls(BrokerOperation::Accept).first(1);
    let broken = accepts
        .at(BrokerPoint::Before)
        .run(|| panic!("a broken transport"));
    world.broker.add_hook(broken);
    world.place("a").await;
    let process = world.process();
    let subscriber = process
        .builder(&world)
        .build(process.transport.clone())
        .unwrap();
    let health = subscriber.health();
    let error = subscriber.run(std::future::pending()).await.unwrap_err();
    assert_eq!(error.kind(), SubscriberErrorKind::Receiving);
    assert!(error.report().is_some());
    assert!(!health.liveness().ok && !health.readiness().ok);
}
