use nimbus_inbox_testing::{BrokerFault, BrokerOperation, BrokerOptions, BrokerWhen};
use nimbus_messaging::TransportErrorKind;
use nimbus_subscriber::{CloudEventMapping, ContentMode, RunReport};

use super::{MODES, Order, in_mode, order, run};
use crate::support::{ENDPOINT, World};

/// Runs a subscriber that takes the session from the subject.
async fn run_by_subject(world: &World) -> RunReport {
    let mapping = CloudEventMapping::default().with_session_from(["subject"]);
    world
        .run_with(|builder| in_mode(ContentMode::AutoDetect)(builder).cloud_event_mapping(mapping))
        .await
}

/// An event that the broker has no session for.
fn stray(id: &str) -> Order {
    order(id).in_session(None)
}

/// SUB-06: the broker's own session is the session by default; an event that has none there goes
/// into the one that its `sessionid` names, and without it has none.
#[tokio::test(start_paused = true)]
async fn the_session_is_the_brokers_else_the_events_own() {
    for content_mode in MODES {
        let world = World::new().await;
        for event in [
            order("a").with("sessionid", "t"),
            stray("b").with("sessionid", "t"),
            stray("c"),
        ] {
            world.publish(event.to(content_mode)).await;
            run(&world, ContentMode::CloudEvents).await;
        }
        assert_eq!(world.script.done(), ["a", "b", "c"], "{content_mode}");
        let told = world.told();
        let sessions = told
            .iter()
            .map(|told| told.headers.original_session_id.as_deref());
        assert_eq!(sessions.collect::<Vec<_>>(), [Some("s"), Some("t"), None]);
        assert_eq!(world.recorded(), ["m-a", "m-b", "m-c"]);
        world.assert_idle();
    }
}

/// SUB-06: a session that comes from an attribute is a session as any other: while it is blocked
/// what belongs to it is parked, wherever the broker delivered it.
#[tokio::test(start_paused = true)]
async fn an_event_is_handled_in_the_session_of_its_attribute() {
    for content_mode in MODES {
        let world = World::new().await;
        world.script.fail("a", 1);
        let blocking = stray("a").with("subject", "s");
        world.publish(blocking.to(content_mode)).await;
        run_by_subject(&world).await;
        assert!(world.state().is_blocked());

        for event in [stray("b"), order("c").in_session(Some("elsewhere"))] {
            let event = event.with("subject", "s");
            world.publish(event.to(content_mode)).await;
            run_by_subject(&world).await;
        }
        assert_eq!(world.script.begun(), ["a"], "{content_mode}");
        assert_eq!(world.parked().len(), 2);
        let other = order("d").with("subject", "other");
        world.publish(other.to(content_mode)).await;
        run_by_subject(&world).await;
        assert_eq!(world.script.done(), ["d"]);
        world.assert_idle();
    }
}

/// SUB-06: in its own session an event is handled where it is delivered, without a detour.
#[tokio::test(start_paused = true)]
async fn an_event_in_its_own_session_makes_no_detour() {
    let world = World::new().await;
    world
        .publish(order("a").with("subject", "s").to("structured"))
        .await;
    world
        .publish(order("b").without("subject").to("structured"))
        .await;
    let report = run_by_subject(&world).await;
    assert_eq!((report.received, report.handled), (2, 2));
}

/// SUB-06, INB-40: an event on its way into its session is neither lost nor handled twice by a
/// crash, nor given up while the broker does not take it.
#[tokio::test(start_paused = true)]
async fn a_crash_on_the_way_into_the_session_loses_and_repeats_nothing() {
    let mut explored = 0;
    for at in 0.. {
        let world = World::with(BrokerOptions::default()).await;
        world.publish(stray("a").to("structured")).await;
        let process = world.process();
        let strike = process.plan_crash(&world, Some(at));
        let mapping = || CloudEventMapping::default().with_session_from(["subject"]);
        let builder = process.builder(&world);
        let builder = in_mode(ContentMode::AutoDetect)(builder).cloud_event_mapping(mapping());
        let first = process.start(builder);
        world.settle().await;
        if !strike.has_struck() {
            first.stop().await;
            break;
        }
        first.kill();
        explored += 1;
        run_by_subject(&world).await;
        // A crash before the record repeats the handler, as it does of any event.
        let mut done = world.script.done();
        done.dedup();
        assert_eq!(done, ["a"], "crash at {at}");
        assert_eq!(world.recorded(), ["m-a"], "crash at {at}");
        world.assert_idle();
    }
    assert!(explored >= 8, "only {explored} points");

    let world = World::new().await;
    world.publish(stray("a").to("structured")).await;
    let moves = BrokerWhen::on(BrokerOperation::Send).at(ENDPOINT);
    let outage = BrokerFault::fail(TransportErrorKind::Transient);
    world.broker.inject(moves.nth(1), outage);
    let report = run_by_subject(&world).await;
    assert_eq!((report.handled, report.abandoned), (1, 1));
    world.assert_idle();
}

/// SUB-06: an event that the broker does not take into its session is set aside with the reason.
#[tokio::test(start_paused = true)]
async fn an_event_that_can_not_get_into_its_session_is_set_aside() {
    let world = World::new().await;
    world.publish(stray("a").to("structured")).await;
    let moves = BrokerWhen::on(BrokerOperation::Send).at(ENDPOINT);
    let refused = BrokerFault::fail(TransportErrorKind::InvalidInput);
    world.broker.inject(moves, refused);
    run_by_subject(&world).await;
    assert_eq!(world.script.begun(), [""; 0]);
    let dead = world.broker.dead_letters(ENDPOINT);
    assert_eq!(dead[0].reason, "NotMovedToSession");
    assert_eq!(world.told()[0].headers.cloud_event_id.as_deref(), Some("a"));
}
