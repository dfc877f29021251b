//! A failed event blocks its session, and the session gets its retry, wherever a crash falls.

use std::time::Duration;

use nimbus_inbox_testing::{BrokerOperation, BrokerOptions, BrokerPoint};
use nimbus_messaging::{Headers, MessageType, SessionState};
use nimbus_subscriber::{HandlerError, Handoff, RetryPolicy};

use crate::support::{Disturb, ENDPOINT, Journal, World};

fn policy() -> RetryPolicy {
    RetryPolicy::fixed(Duration::from_secs(5))
}

/// SUB-10: error response, block, retry, completion, in this order.
#[tokio::test(start_paused = true)]
async fn a_failure_is_reported_then_blocks_then_schedules_then_completes() {
    let world = World::new().await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    world.script.fail("a", 1);
    world.place("a").await;
    let running = process.start(process.builder(&world).retry(policy()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        journal.since("check"),
        [
            "check",
            "fence",
            "send ErrorResponse",
            "write state",
            "schedule RetryRequest",
            "complete"
        ]
    );
    running.stop().await;
}

/// SUB-10, INB-16, INB-17, SUB-34: what the block and the retry carry.
#[tokio::test(start_paused = true)]
async fn block_and_retry_name_the_source_and_each_other() {
    let world = World::new().await;
    world.script.fail("a", 1);
    world.place("a").await;
    let running = world.start_with(|builder| builder.retry(policy()));
    tokio::time::sleep(Duration::from_secs(1)).await;

    let state = world.state();
    assert!(state.is_blocked_by(Some(&"a".into())));
    assert_eq!(state.blocked_by_message_id.as_deref(), Some("m-a"));
    assert!(!state.blocked_by_handoff);
    let error = state.blocked_by_error.clone().unwrap_or_default();
    assert_eq!(error.error_text.as_deref(), Some("no stock"));

    let scheduled = world.broker.scheduled(ENDPOINT);
    assert_eq!(scheduled.len(), 1);
    let (due, envelope) = &scheduled[0];
    assert_eq!(
        due.saturating_duration_since(world.broker.now()),
        Duration::from_secs(4)
    );
    let retry = Headers::read(envelope).unwrap();
    assert_eq!(retry.message_type, MessageType::RetryRequest);
    assert_eq!(retry.retry_count, Some(1));
    assert_eq!(retry.inbox_message_id.as_deref(), Some("m-a"));
    assert_eq!(retry.block_id, state.block_id);
    assert!(retry.block_id.is_some());
    assert_eq!(retry.session_id.as_deref(), Some("s"));
    assert_eq!(retry.event_id, Some("a".into()));
    assert_eq!(retry.parent_message_id.as_deref(), Some("m-a"));
    let id = retry.message_id.unwrap_or_default();
    assert!(id.len() == 64 && id.is_ascii(), "{id}");
    assert_eq!(world.recorded(), [""; 0]);
    running.stop().await;
}

/// SUB-10, INB-15, INB-16: a retry of a retry carries the source on; when it succeeds the source
/// is recorded first, then the retry, and what was parked behind the block follows in order.
#[tokio::test(start_paused = true)]
async fn the_second_retry_completes_the_event_and_what_waited_follows() {
    let world = World::new().await;
    world.script.fail("a", 2);
    for order in ["a", "b", "c"] {
        world.place(order).await;
    }
    let report = world.run_with(|builder| builder.retry(policy())).await;

    assert_eq!(world.script.begun(), ["a", "a", "a", "b", "c"]);
    assert_eq!(
        world.lines(),
        [
            "ErrorResponse a",
            "DeferralResponse b",
            "DeferralResponse c",
            "ErrorResponse a",
            "ResolutionResponse a",
            "ResolutionResponse b",
            "ResolutionResponse c"
        ]
    );
    let told = world.told_of("a");
    assert_eq!(told[1].headers.retry_count, Some(1));
    assert_eq!(told[2].headers.retry_count, Some(2));
    let recorded = world.recorded();
    assert_eq!(recorded[0], "m-a");
    assert_eq!(
        Some(&recorded[1]),
        told[2].headers.parent_message_id.as_ref()
    );
    assert_eq!(recorded[2], "m-b");
    assert_eq!(recorded[4], "m-c");
    assert_eq!(recorded.len(), 6);
    let state = world.state();
    assert!(!state.is_blocked() && !state.has_deferred());
    assert_eq!(state.blocked_by_message_id, None);
    assert_eq!((report.retries_scheduled, report.failed), (2, 2));
    assert_eq!((report.parked, report.replayed), (2, 2));
    world.assert_idle();
}

/// SUB-10: with the budget spent, or without a policy, the block stays for an operator.
#[tokio::test(start_paused = true)]
async fn a_spent_budget_leaves_the_block() {
    for retries in [0, 1] {
        let world = World::new().await;
        world.script.fail("a", 5);
        world.place("a").await;
        world.place("b").await;
        world
            .run_with(|builder| builder.retry(policy().max_retries(retries)))
            .await;
        let runs = usize::try_from(retries).unwrap() + 1;
        assert_eq!(world.script.begun(), vec!["a"; runs]);
        assert!(world.state().is_blocked_by(Some(&"a".into())));
        assert_eq!(world.parked().len(), 1);
        world.assert_idle();
    }
    let world = World::new().await;
    world.script.fail("a", 1);
    world.place("a").await;
    world.run().await;
    assert!(world.state().is_blocked());
    world.assert_idle();
}

/// SUB-10: after a crash between block and retry, the redelivered owner of the block repeats the
/// tail and does not park behind itself. SUB-34: a retry scheduled twice has the same id.
#[tokio::test(start_paused = true)]
async fn the_owner_of_a_block_repeats_what_is_missing() {
    for point in [BrokerPoint::Before, BrokerPoint::After] {
        let world = World::new().await;
        world
            .broker
            .add_hook(Disturb::calls(BrokerOperation::Schedule).first(1).at(point));
        world.script.fail("a", 1);
        world.place("a").await;
        let running = world.start_with(|builder| builder.retry(policy()));
        tokio::time::sleep(Duration::from_secs(1)).await;

        assert_eq!(world.script.begun(), ["a"], "the owner ran again");
        assert_eq!(world.parked(), []);
        assert_eq!(world.lines(), ["ErrorResponse a", "ErrorResponse a"]);
        assert_eq!(world.told()[1].error_text(), Some("no stock"));
        let ids: Vec<_> = world
            .broker
            .scheduled(ENDPOINT)
            .into_iter()
            .map(|(_, envelope)| envelope.message_id)
            .collect();
        assert_eq!(ids.len(), if point == BrokerPoint::Before { 1 } else { 2 });
        assert!(ids.iter().all(|id| id == &ids[0]), "{ids:?}");

        world.settle().await;
        running.stop().await;
        assert_eq!(world.script.done(), ["a"]);
        assert!(!world.state().is_blocked());
        world.assert_idle();
    }
}

/// SUB-10: another message of the event that blocks is not the owner's delivery: it waits.
#[tokio::test(start_paused = true)]
async fn another_message_of_the_blocking_event_waits_behind_the_block() {
    let world = World::new().await;
    world.set_state(&World::blocked_by("a"));
    let message = World::event("a")
        .with_session("s")
        .with_message_id("m-other");
    world.publish(message.to(ENDPOINT)).await;
    world.run().await;
    assert_eq!(world.lines(), ["DeferralResponse a"]);
    assert_eq!(world.parked().len(), 1);
}

/// SUB-10: of an owner that handed its work off only the completion is repeated. SUB-14: the
/// resolver is told why, which job, and until when. INB-13: a handoff is not recorded.
#[tokio::test(start_paused = true)]
async fn the_owner_of_a_handoff_only_completes() {
    let world = World::new().await;
    let lost = Disturb::calls(BrokerOperation::Complete).first(1);
    world.broker.add_hook(lost);
    world.script.next("a", async |context| {
        context.mark_pending_handoff(Handoff {
            reason: "waits for the bank".to_owned(),
            external_job_id: Some("job-7".to_owned()),
            expected_by: "2026-12-24T18:00:00Z".parse().ok(),
        });
        Ok(())
    });
    world.place("a").await;
    world.place("b").await;
    world.run_with(|builder| builder.retry(policy())).await;

    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(
        world.lines(),
        ["PendingHandoffResponse a", "DeferralResponse b"]
    );
    let told = &world.told()[0].headers;
    assert_eq!(told.handoff_reason.as_deref(), Some("waits for the bank"));
    assert_eq!(told.external_job_id.as_deref(), Some("job-7"));
    assert_eq!(told.expected_by, "2026-12-24T18:00:00Z".parse().ok());
    assert_eq!(world.recorded(), [""; 0]);
    let state = world.state();
    assert!(state.blocked_by_handoff && state.is_blocked_by(Some(&"a".into())));
    assert_eq!(state.blocked_by_message_id.as_deref(), Some("m-a"));
    world.assert_idle();
}

/// INB-13: a handoff that the handler marked counts only when the handler succeeds.
#[tokio::test(start_paused = true)]
async fn a_failed_handler_hands_nothing_off() {
    let world = World::new().await;
    world.script.next("a", async |context| {
        context.mark_pending_handoff(Handoff::default());
        Err(HandlerError::new("no stock"))
    });
    world.place("a").await;
    world.run().await;
    assert_eq!(world.lines(), ["ErrorResponse a"]);
    assert!(!world.state().blocked_by_handoff);
}

/// SUB-10, SUB-35 to SUB-37, INB-40: whatever effect a crash follows, before or after, a failing
/// event is retried, what waited behind it follows in order, and nothing that was recorded runs
/// again.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_effect_loses_and_reorders_nothing() {
    let mut explored = 0;
    for atomic in [true, false] {
        for at in 0.. {
            if !survives_a_crash(atomic, at).await {
                break;
            }
            explored += 1;
        }
    }
    assert!(explored > 100, "only {explored} crashes were tried");
}

/// `false` when the run has no such point.
async fn survives_a_crash(atomic: bool, at: u64) -> bool {
    let options = BrokerOptions::default();
    let world = World::with(if atomic {
        options
    } else {
        options.without_atomic_sessions()
    })
    .await;
    // The event fails once. A crash may forget that it did, so it counts by what was reported.
    let broker = world.broker.clone();
    for _ in 0..8 {
        let broker = broker.clone();
        world.script.next("a", async move |_| {
            let failed = broker.envelopes("Resolver").iter().any(|told| {
                told.properties.text("MessageType").as_deref() == Some("ErrorResponse")
            });
            if failed {
                Ok(())
            } else {
                Err(HandlerError::new("no stock"))
            }
        });
    }
    for order in ["a", "b", "c"] {
        world.place(order).await;
    }
    let process = world.process();
    let strike = process.plan_crash(&world, Some(at));
    let first = process.start(process.builder(&world).retry(policy()));
    world.settle().await;
    if !strike.has_struck() {
        first.stop().await;
        return false;
    }
    first.task.abort();
    world.run_with(|builder| builder.retry(policy())).await;

    let context = format!("atomic {atomic}, crash at point {at}: {:?}", world.lines());
    let mut order = world.script.done();
    order.dedup();
    assert_eq!(order, ["a", "b", "c"], "{context}");
    for id in ["m-a", "m-b", "m-c"] {
        assert!(world.is_recorded(id), "{id}, {context}");
    }
    assert_eq!(world.parked(), [], "{context}");
    let state = world.state();
    assert!(
        !state.is_blocked() && !state.has_deferred(),
        "{state:?}, {context}"
    );
    world.assert_idle();
    true
}

/// INB-17: the block of a message whose id is unusable names no source, and one that is written
/// over leaves no other's behind.
#[tokio::test(start_paused = true)]
async fn a_block_without_a_usable_source_names_none() {
    let world = World::new().await;
    world.set_state(&SessionState {
        blocked_by_message_id: Some("left-behind".to_owned()),
        ..SessionState::default()
    });
    world.script.fail("a", 1);
    let message = World::event("a").with_session("s").with_message_id(" ");
    world.publish(message.to(ENDPOINT)).await;
    world.run().await;
    let state = world.state();
    assert!(state.is_blocked());
    assert_eq!(state.blocked_by_message_id, None);
}
