//! The handler's own transaction of retries, resubmissions and parked copies.

use std::time::Duration;

use nimbus_inbox_testing::BrokerOptions;
use nimbus_messaging::{Envelope, MessageType};
use nimbus_subscriber::{
    CloudEventMapping, ContentMode, RetryPolicy, RunReport, SubscriberBuilder,
};

use crate::support::{EVENT_TYPE, Process, World};

/// Runs a subscriber whose handler claims, with an inbox of its own and without one.
async fn on_both(set_up: impl AsyncFn() -> World, check: impl AsyncFn(&World, RunReport)) {
    let builders: [fn(&Process, &World) -> SubscriberBuilder; 2] =
        [Process::claiming, Process::claiming_without_inbox];
    for builder in builders {
        let world = set_up().await;
        let process = world.process();
        let running = process.start(builder(&process, &world));
        world.settle().await;
        let report = running.stop().await;
        check(&world, report).await;
        world.assert_idle();
    }
}

async fn blocked_by(order: &str) -> World {
    World::blocked(order, BrokerOptions::default()).await
}

/// SUB-39, INB-15: a retry claims its source, then itself, then unblocks and drains; so does the
/// parked copy that follows.
#[tokio::test(start_paused = true)]
async fn a_retry_claims_source_and_own_id() {
    let set_up = async || {
        let world = blocked_by("a").await;
        world.send(World::retry("a"), "a").await;
        world
    };
    on_both(set_up, async |world, report| {
        assert_eq!(world.recorded(), ["m-a", "r-a", "m-b", "parked-0"]);
        assert_eq!((report.handled, report.replayed), (2, 1));
        assert_eq!(world.script.done(), ["a", "b"]);
        assert_eq!(
            world.lines(),
            ["ResolutionResponse a", "ResolutionResponse b"]
        );
        assert!(!world.state().is_blocked());
    })
    .await;
}

/// SUB-39, SUB-11, INB-18: a retry whose own id is on record does not run; it unblocks and drains.
#[tokio::test(start_paused = true)]
async fn a_duplicate_retry_unblocks_and_drains() {
    let set_up = async || {
        let world = blocked_by("a").await;
        world.record("r-a").await;
        world.send(World::retry("a"), "a").await;
        world
    };
    on_both(set_up, async |world, report| {
        assert_eq!(world.script.done(), ["b"]);
        assert_eq!((report.handled, report.duplicates), (1, 1));
        assert_eq!(
            world.told_of("a")[0].error_text(),
            Some("DuplicateDetected")
        );
        assert!(!world.state().is_blocked());
        assert_eq!(world.parked(), []);
    })
    .await;
}

/// SUB-39, INB-18: a retry and a resubmission run although their source is on record.
#[tokio::test(start_paused = true)]
async fn a_recorded_source_stops_neither_retry_nor_resubmission() {
    for message_type in [MessageType::RetryRequest, MessageType::ResubmissionRequest] {
        let set_up = async || {
            let world = blocked_by("a").await;
            world.record("m-a").await;
            let headers = match message_type {
                MessageType::RetryRequest => World::retry("a"),
                command => World::command(command, "a"),
            };
            world.send(headers, "a").await;
            world
        };
        on_both(set_up, async |world, report| {
            assert_eq!(world.script.done(), ["a", "b"]);
            assert_eq!(report.duplicates, 0);
        })
        .await;
    }
}

/// SUB-39, INB-17: a resubmission that resolves its session's block claims the blocking message and
/// itself; one of another event claims only itself.
#[tokio::test(start_paused = true)]
async fn a_resubmission_claims_the_message_that_blocks() {
    let of_the_block = async || {
        let world = blocked_by("a").await;
        world
            .send(World::command(MessageType::ResubmissionRequest, "a"), "a")
            .await;
        world
    };
    on_both(of_the_block, async |world, _| {
        assert_eq!(world.recorded()[..2], ["m-a", "c-a"]);
        assert_eq!(world.script.done(), ["a", "b"]);
        assert!(!world.state().is_blocked());
    })
    .await;

    let of_another = async || {
        let world = blocked_by("z").await;
        world
            .send(World::command(MessageType::ResubmissionRequest, "a"), "a")
            .await;
        world
    };
    on_both(of_another, async |world, _| {
        assert_eq!(world.recorded(), ["c-a"]);
        assert!(world.is_still_blocked());
    })
    .await;
}

/// SUB-39, SUB-12: a resubmission that is on record unblocks the session that its event blocks.
#[tokio::test(start_paused = true)]
async fn a_duplicate_resubmission_unblocks_and_drains() {
    let set_up = async || {
        let world = blocked_by("a").await;
        world.record("c-a").await;
        world
            .send(World::command(MessageType::ResubmissionRequest, "a"), "a")
            .await;
        world
    };
    on_both(set_up, async |world, report| {
        assert_eq!(world.script.done(), ["b"]);
        assert_eq!(report.duplicates, 1);
        assert!(!world.state().is_blocked());
        assert_eq!(world.parked(), []);
    })
    .await;
}

/// SUB-39, INB-18: a parked copy is a duplicate by its own id and by its source's, and is removed.
#[tokio::test(start_paused = true)]
async fn a_parked_copy_is_a_duplicate_by_source_and_by_own_id() {
    for recorded in ["m-b", "parked-0"] {
        let set_up = async || {
            let world = World::new().await;
            world.park("b").await;
            world.record(recorded).await;
            world.request_drain().await;
            world
        };
        on_both(set_up, async |world, report| {
            assert_eq!(world.script.begun(), [""; 0]);
            assert_eq!(report.duplicates, 1);
            assert_eq!(world.lines(), ["SkipResponse b"]);
            assert_eq!(world.parked(), []);
            assert_eq!(world.state().deferred_count, 0);
        })
        .await;
    }
}

/// SUB-39, SUB-19: a late delivery of an event that a resubmission completed is found by its claim.
#[tokio::test(start_paused = true)]
async fn a_late_delivery_of_a_resolved_block_is_skipped() {
    let set_up = async || {
        let world = World::new().await;
        world.set_state(&World::blocked_by("a"));
        world
            .send(World::command(MessageType::ResubmissionRequest, "a"), "a")
            .await;
        world.place("a").await;
        world
    };
    on_both(set_up, async |world, report| {
        assert_eq!(world.script.done(), ["a"]);
        assert_eq!((report.handled, report.duplicates), (1, 1));
    })
    .await;
}

/// SUB-39, SUB-06, SUB-18, INB-40: CloudEvents that go into a blocked session by an attribute are
/// parked and claimed when they are replayed. A process dies at every effect, with a timeout around
/// the handlers; on stores with and without transactions no effect is lost, reordered, or there twice.
#[tokio::test(start_paused = true)]
async fn cloud_events_on_a_detour_have_one_effect_each() {
    let by_subject = || CloudEventMapping::default().with_session_from(["subject"]);
    let builder = |process: &Process, world: &World| {
        process
            .claiming(world)
            .retry(RetryPolicy::fixed(Duration::from_secs(5)))
            .timeout(Duration::from_secs(10))
            .content_mode(ContentMode::AutoDetect)
            .cloud_event_mapping(by_subject())
    };
    let event = |id: &str| {
        Envelope {
        message_id: Some(format!("m-{id}")),
        content_type: Some("application/cloudevents+json".to_owned()),
        body: format!(
            r#"{{"specversion":"1.0","id":"{id}","source":"/shop","type":"{EVENT_TYPE}","subject":"s",
                "data":{{"order":"{id}"}}}}"#
        )
        .into(),
        ..Envelope::default()
    }
    };
    for atomic in [true, false] {
        let mut explored = 0;
        for at in 0.. {
            let options = BrokerOptions::default();
            let options = match atomic {
                true => options,
                false => options.without_atomic_sessions(),
            };
            let world = World::with(options).await;
            // Its first run is cut off by the timeout, in its transaction.
            world
                .script
                .next("a", async |_| std::future::pending().await);
            let process = world.process();
            let strike = process.plan_crash(&world, Some(at));
            world.publish(event("a")).await;
            let first = process.start(builder(&process, &world));
            tokio::time::sleep(Duration::from_secs(1)).await;
            world.publish(event("b")).await;
            world.settle().await;
            if !strike.has_struck() {
                first.stop().await;
                break;
            }
            first.kill();
            explored += 1;
            let second = world.process();
            let running = second.start(builder(&second, &world));
            world.settle().await;
            running.stop().await;
            let context = format!("atomic {atomic}, point {at}: {:?}", world.lines());
            let mut done = world.script.done();
            done.sort();
            assert_eq!(done, ["a", "b"], "{context}");
            assert!(!world.state().is_blocked(), "{context}");
            assert_eq!(world.parked(), [], "{context}");
            world.assert_idle();
        }
        assert!(explored > 40, "{explored}");
    }
}
