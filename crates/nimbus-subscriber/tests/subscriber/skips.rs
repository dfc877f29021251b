//! An operator gives an event up.

use std::time::Duration;

use nimbus_inbox_testing::BrokerOptions;
use nimbus_messaging::{Address, Headers, MessageType, SessionState};
use nimbus_subscriber::RetryPolicy;

use crate::support::{ENDPOINT, Journal, World};

fn skip(order: &str) -> Headers {
    World::command(MessageType::SkipRequest, order)
}

/// SUB-13: a skip of the event that blocks unblocks, drains and is reported, without the handler;
/// nothing is recorded for the event.
#[tokio::test(start_paused = true)]
async fn a_skip_unblocks_drains_and_is_reported() {
    let world = World::blocked("a", BrokerOptions::default()).await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    world.send(skip("a"), "a").await;
    let running = process.start(process.builder(&world));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let report = running.stop().await;

    assert_eq!(
        journal.since("fence")[..5],
        [
            "fence",
            "write state",
            "send ProcessDeferredRequest",
            "send SkipResponse",
            "complete"
        ]
    );
    assert_eq!(world.script.begun(), ["b"]);
    assert_eq!(world.lines(), ["SkipResponse a", "ResolutionResponse b"]);
    let told = &world.told()[0];
    // A duplicate and a discard say so in a text (SUB-24).
    assert_eq!(told.error_text(), None);
    assert_eq!(told.event_json(), Some(r#"{"order":"a"}"#));
    assert!(!world.is_recorded("m-a") && !world.is_recorded("c-a"));
    let state = world.state();
    assert!(!state.is_blocked() && state.blocked_by_message_id.is_none());
    assert_eq!(report.skipped, 1);
    world.assert_idle();
}

/// INB-40: a skipped event is not on record: delivered again, it runs.
#[tokio::test(start_paused = true)]
async fn a_skipped_event_that_is_delivered_again_runs() {
    let world = World::blocked("a", BrokerOptions::default()).await;
    world.send(skip("a"), "a").await;
    world.run().await;
    world.place("a").await;
    world.run().await;
    assert_eq!(world.script.begun(), ["b", "a"]);
    assert!(world.is_recorded("m-a"));
    world.assert_idle();
}

/// SUB-13: a skip of an event that doesn't block is only reported. SUB-16: in a free session it
/// has the deferred messages drained; a session that another event blocks is left alone.
#[tokio::test(start_paused = true)]
async fn a_skip_of_an_event_that_does_not_block_is_only_reported() {
    let world = World::new().await;
    world.park("b").await;
    world.send(skip("a"), "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a", "ResolutionResponse b"]);
    world.assert_idle();

    let world = World::blocked("z", BrokerOptions::default()).await;
    world.send(skip("a"), "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a"]);
    assert!(world.is_still_blocked());
    world.assert_idle();

    // Without a session there is nothing to free.
    let world = World::new().await;
    let sessionless = Headers {
        session_id: None,
        ..skip("a")
    };
    world.send(sessionless, "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a"]);
    world.assert_idle();
}

/// SUB-13, SUB-12, SUB-15, SUB-04: commands are taken only from the manager, whatever its case;
/// another's is dead-lettered with the reason and changes nothing.
#[tokio::test(start_paused = true)]
async fn commands_of_others_are_dead_lettered() {
    for command in [
        MessageType::SkipRequest,
        MessageType::ResubmissionRequest,
        MessageType::HandoffCompletedRequest,
        MessageType::HandoffFailedRequest,
    ] {
        for from in [None, Some(Address::RETRY), Some("Managers".into())] {
            let world = World::blocked("a", BrokerOptions::default()).await;
            let forged = Headers {
                from,
                ..World::command(command, "a")
            };
            world.send(forged, "a").await;
            let report = world.run().await;
            assert_eq!(world.script.begun(), [""; 0], "{command}");
            assert!(world.is_still_blocked(), "{command}");
            let dead = world.broker.dead_letters(ENDPOINT);
            assert_eq!(dead[0].reason, "NotFromManager", "{command}");
            assert!(dead[0].description.contains(command.as_str()));
            assert_eq!(world.lines(), ["ErrorResponse a"], "{command}");
            assert_eq!(report.dead_lettered, 1);
        }
    }
    let world = World::blocked("a", BrokerOptions::default()).await;
    let shouting = Headers {
        from: Some("MANAGER".into()),
        ..skip("a")
    };
    world.send(shouting, "a").await;
    world.run().await;
    assert!(!world.state().is_blocked());
}

/// SUB-13, SUB-03: a skip needs no body, and tells of the event by its headers alone.
#[tokio::test(start_paused = true)]
async fn a_skip_needs_no_body() {
    let world = World::blocked("a", BrokerOptions::default()).await;
    let mut command = skip("a").into_envelope(&nimbus_messaging::MessageContent::default());
    command.body = Vec::new().into();
    world.publish(command).await;
    world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a", "ResolutionResponse b"]);
    assert!(!world.state().is_blocked());
    world.assert_idle();
}

/// SUB-13, SUB-11: the retry of a skipped event finds its block gone and does not run the handler.
#[tokio::test(start_paused = true)]
async fn the_retry_of_a_skipped_event_does_not_run() {
    let world = World::new().await;
    world.script.fail("a", 1);
    world.place("a").await;
    let policy = RetryPolicy::fixed(Duration::from_secs(60));
    let running = world.start_with(|builder| builder.retry(policy));
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.send(skip("a"), "a").await;
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(world.state(), SessionState::default());
    world.assert_idle();
}

/// SUB-13, SUB-16: whatever effect of a skip a crash follows, the session becomes free and what
/// waited follows in order; the redelivery is the only trigger left after a lost drain request.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_effect_of_a_skip_loses_and_reorders_nothing() {
    let explored = crate::support::crash_anywhere(20, async |options| {
        let world = World::blocked("a", options).await;
        world.send(skip("a"), "a").await;
        world.place("c").await;
        (world, ["b", "c"].as_slice())
    })
    .await;
    assert!(explored > 40, "only {explored} crashes were tried");
}
