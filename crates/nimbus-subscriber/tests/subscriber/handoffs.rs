//! An external job is done, or is not.

use std::time::Duration;

use nimbus_inbox_testing::BrokerOptions;
use nimbus_messaging::{ErrorContent, Headers, MessageContent, MessageType, SessionState};
use nimbus_subscriber::{Handoff, RetryPolicy};

use crate::support::{ENDPOINT, Journal, Logs, World};

fn completed(order: &str) -> Headers {
    World::command(MessageType::HandoffCompletedRequest, order)
}

/// What an operator says of a job that failed.
async fn report_failed(world: &World, order: &str, text: Option<&str>) {
    let content = MessageContent {
        error_content: Some(ErrorContent {
            error_text: text.map(str::to_owned),
            ..ErrorContent::default()
        }),
        event_content: None,
    };
    let headers = World::command(MessageType::HandoffFailedRequest, order);
    world.publish(headers.into_envelope(&content)).await;
}

async fn handed_off(options: BrokerOptions) -> World {
    let world = World::blocked("a", options).await;
    world.set_state(&SessionState {
        blocked_by_handoff: true,
        ..world.state()
    });
    world
}

/// SUB-15: a completed job unblocks, drains and resolves, without the handler; INB-20: it records
/// nothing.
#[tokio::test(start_paused = true)]
async fn a_completed_job_unblocks_drains_and_resolves() {
    let world = handed_off(BrokerOptions::default()).await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    world.send(completed("a"), "a").await;
    let running = process.start(process.builder(&world));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let report = running.stop().await;
    assert_eq!(
        journal.since("fence")[..5],
        [
            "fence",
            "write state",
            "send ProcessDeferredRequest",
            "send ResolutionResponse",
            "complete"
        ]
    );
    assert_eq!(world.script.begun(), ["b"]);
    assert_eq!(
        world.lines(),
        ["ResolutionResponse a", "ResolutionResponse b"]
    );
    assert!(!world.is_recorded("m-a") && !world.is_recorded("c-a"));
    assert!(!world.state().is_blocked());
    assert_eq!(report.handoffs_settled, 1);
    world.assert_idle();
}

/// SUB-14, SUB-15: from the handler that hands off to the job that is done; a block that a .NET
/// peer wrote does not say that it waits for a job, and ends the same way.
#[tokio::test(start_paused = true)]
async fn a_handoff_is_settled_from_outside() {
    for foreign in [false, true] {
        let world = World::new().await;
        world.script.next("a", async |context| {
            context.mark_pending_handoff(Handoff::default());
            Ok(())
        });
        world.place("a").await;
        world.place("b").await;
        world.run().await;
        if foreign {
            world.set_state(&SessionState {
                blocked_by_handoff: false,
                block_id: None,
                ..world.state()
            });
        }
        world.send(completed("a"), "a").await;
        world.run().await;
        assert_eq!(
            world.lines(),
            [
                "PendingHandoffResponse a",
                "DeferralResponse b",
                "ResolutionResponse a",
                "ResolutionResponse b"
            ]
        );
        assert_eq!(world.script.begun(), ["a", "b"]);
        world.assert_idle();
    }
}

/// INB-40: an event that was handed off is not on record, not even once its job is done: delivered
/// again, it runs.
#[tokio::test(start_paused = true)]
async fn an_event_that_was_handed_off_runs_when_it_is_delivered_again() {
    let world = handed_off(BrokerOptions::default()).await;
    world.send(completed("a"), "a").await;
    world.run().await;
    world.place("a").await;
    world.run().await;
    assert_eq!(world.script.begun(), ["b", "a"]);
    assert!(world.is_recorded("m-a"));
    world.assert_idle();
}

/// SUB-15: of an event that does not block, a completed job is resolved. SUB-16: a free session is
/// drained, and one that another event blocks is left alone.
#[tokio::test(start_paused = true)]
async fn a_completed_job_of_an_event_that_does_not_block_is_resolved() {
    let world = World::new().await;
    world.park("b").await;
    world.send(completed("a"), "a").await;
    world.run().await;
    assert_eq!(
        world.lines(),
        ["ResolutionResponse a", "ResolutionResponse b"]
    );
    world.assert_idle();

    let world = World::blocked("z", BrokerOptions::default()).await;
    world.send(completed("a"), "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    assert!(world.is_still_blocked());
    world.assert_idle();
}

/// SUB-15: a failed job is reported with the operator's text as it is, however long, and the session
/// stays blocked as it was; no retry is scheduled, and an operator can resubmit the event.
#[tokio::test(start_paused = true)]
async fn a_failed_job_is_reported_verbatim_and_stays_blocked() {
    let text = "  die Bank lehnt ab: „ungültig“\n".repeat(500);
    let world = handed_off(BrokerOptions::default()).await;
    let before = world.state();
    report_failed(&world, "a", Some(&text)).await;
    let policy = RetryPolicy::fixed(Duration::from_secs(1));
    let report = world.run_with(|builder| builder.retry(policy)).await;
    assert_eq!(world.lines(), ["ErrorResponse a"]);
    assert_eq!(world.told()[0].error_text(), Some(text.as_str()));
    assert_eq!(world.told()[0].error_type(), Some("HandoffFailed"));
    assert_eq!(world.state(), before);
    assert_eq!((report.handoffs_settled, report.retries_scheduled), (1, 0));
    world.assert_idle();

    let resubmission = World::command(MessageType::ResubmissionRequest, "a");
    world.send(resubmission, "a").await;
    world.run().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    assert_eq!(world.recorded()[0], "m-a");
    world.assert_idle();
}

/// SUB-15: of an event that does not block, a failed job is logged at error and completed, and nobody
/// is told. SUB-16: a free session is drained.
#[tokio::test(start_paused = true)]
async fn a_failed_job_of_an_event_that_does_not_block_is_only_logged() {
    let logs = Logs::capture();
    let world = World::new().await;
    world.park("b").await;
    report_failed(&world, "a", Some("refused")).await;
    world.run().await;
    assert_eq!(world.lines(), ["ResolutionResponse b"]);
    let logged = logs.lines("an external job is reported as failed");
    assert_eq!(logged.len(), 1);
    assert!(logged[0].contains("ERROR") && logged[0].contains("refused"));
    world.assert_idle();

    let world = World::blocked("z", BrokerOptions::default()).await;
    report_failed(&world, "a", Some("refused")).await;
    world.run().await;
    assert_eq!(world.lines(), [""; 0]);
    assert!(world.is_still_blocked());
    world.assert_idle();
}

/// SUB-15, SUB-03: a failure without a text gets one; without a readable body it is dead-lettered.
#[tokio::test(start_paused = true)]
async fn a_failure_without_a_text() {
    for text in [None, Some("")] {
        let world = handed_off(BrokerOptions::default()).await;
        report_failed(&world, "a", text).await;
        world.run().await;
        let told = world.told().remove(0);
        assert!(told.error_text().unwrap().contains("gave no reason"));
    }
    let world = handed_off(BrokerOptions::default()).await;
    let headers = World::command(MessageType::HandoffFailedRequest, "a");
    let mut garbled = headers.into_envelope(&MessageContent::default());
    garbled.body = b"{not json".to_vec().into();
    world.publish(garbled).await;
    world.run().await;
    let dead = world.broker.dead_letters(ENDPOINT);
    assert_eq!(dead[0].reason, "MalformedMessage");
    assert!(world.is_still_blocked());
}

/// SUB-15, SUB-16: whatever effect of a completed or failed job a crash follows, an operator can end
/// the block, and what waited follows in order.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_effect_of_a_settled_handoff_loses_and_reorders_nothing() {
    let explored = crate::support::crash_anywhere(30, async |options| {
        let world = handed_off(options).await;
        report_failed(&world, "a", Some("refused")).await;
        let completed = Headers {
            message_id: Some("c-a-2".to_owned()),
            ..completed("a")
        };
        world.send(completed, "a").await;
        world.place("c").await;
        (world, ["b", "c"].as_slice())
    })
    .await;
    assert!(explored > 60, "only {explored} crashes were tried");
}
