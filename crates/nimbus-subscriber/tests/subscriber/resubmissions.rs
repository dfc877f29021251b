//! An operator has an event handled once more.

use std::time::Duration;

use nimbus_inbox_testing::{BrokerOperation, BrokerOptions};
use nimbus_messaging::{Headers, MessageType, SessionState};
use nimbus_subscriber::{HandlerError, Handoff, RetryPolicy};

use crate::support::{Disturb, ENDPOINT, EVENT_TYPE, Journal, Logs, World};

fn resubmission(order: &str) -> Headers {
    World::command(MessageType::ResubmissionRequest, order)
}

async fn blocked_by(order: &str) -> World {
    World::blocked(order, BrokerOptions::default()).await
}

/// SUB-12: success unblocks, drains and resolves. INB-17, INB-15: the source id of the block that
/// it resolves is recorded first, so that a late delivery of the original is skipped.
#[tokio::test(start_paused = true)]
async fn a_resubmission_that_succeeds_unblocks_and_records_the_source() {
    let world = blocked_by("a").await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    world.send(resubmission("a"), "a").await;
    let running = process.start(process.builder(&world));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        journal.since("check")[..7],
        [
            "check",
            "fence",
            "record",
            "write state",
            "send ProcessDeferredRequest",
            "send ResolutionResponse",
            "complete"
        ]
    );
    assert_eq!(world.recorded()[..2], ["m-a", "c-a"]);
    world.place("a").await;
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    assert_eq!(
        world.lines(),
        [
            "ResolutionResponse a",
            "ResolutionResponse b",
            "SkipResponse a"
        ]
    );
    assert_eq!(world.state().blocked_by_message_id, None);
    world.assert_idle();
}

/// INB-17: the block names the source of the delivery that failed, also where that is a parked copy,
/// and the resubmission records it.
#[tokio::test(start_paused = true)]
async fn the_source_of_a_parked_copy_that_blocks_is_recorded() {
    let world = World::new().await;
    world.park("a").await;
    world.script.fail("a", 1);
    world.request_drain().await;
    world.run().await;
    assert_eq!(world.state().blocked_by_message_id.as_deref(), Some("m-a"));
    world.send(resubmission("a"), "a").await;
    world.run().await;
    assert_eq!(world.recorded(), ["m-a", "c-a"]);
    assert!(!world.state().is_blocked());
    world.assert_idle();
}

/// INB-17: the read of the source is best effort: the handler has succeeded, so where it fails the
/// resubmission records its own id alone, with a warning, and does not run again.
#[tokio::test(start_paused = true)]
async fn a_source_that_can_not_be_read_is_warned_about() {
    let logs = Logs::capture();
    let world = blocked_by("a").await;
    let fault = Disturb::calls(BrokerOperation::Fence).first(1);
    world.broker.add_hook(fault);
    world.send(resubmission("a"), "a").await;
    world.run().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    assert_eq!(world.recorded()[0], "c-a");
    assert!(!world.is_recorded("m-a"));
    let warned = logs.lines("only the resubmission is recorded");
    assert_eq!(warned.len(), 1, "{}", logs.text());
    assert!(warned[0].contains("WARN"), "{}", warned[0]);
    assert!(!world.state().is_blocked());
    world.assert_idle();
}

/// INB-20: a block that an older version wrote names no source; the resubmission records its own id
/// and never fails for it. INB-19: nor does it record the id of the chain.
#[tokio::test(start_paused = true)]
async fn a_block_without_a_source_is_resolved_all_the_same() {
    for source in [None, Some(" ".to_owned())] {
        let world = World::new().await;
        world.set_state(&SessionState {
            blocked_by_message_id: source,
            block_id: None,
            ..World::blocked_by("a")
        });
        let request = Headers {
            originating_message_id: Some("m-0".to_owned()),
            ..resubmission("a")
        };
        world.send(request, "a").await;
        world.run().await;
        assert_eq!(world.recorded(), ["c-a"]);
        assert!(!world.state().is_blocked());
        world.assert_idle();
    }
}

/// SUB-12: any event may be resubmitted; the block of another is left alone, and its source is not
/// recorded. INB-17: whatever source the resubmission carries counts for nothing.
#[tokio::test(start_paused = true)]
async fn a_resubmission_of_an_event_that_does_not_block_leaves_the_block() {
    let world = blocked_by("z").await;
    let forged = Headers {
        inbox_message_id: Some("m-forged".to_owned()),
        ..resubmission("a")
    };
    world.send(forged, "a").await;
    world.run().await;
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.recorded(), ["c-a"]);
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    assert!(world.is_still_blocked());
    world.assert_idle();

    // Without a session there is no block to ask about.
    let world = World::new().await;
    let sessionless = Headers {
        session_id: None,
        ..resubmission("a")
    };
    world.send(sessionless, "a").await;
    world.run().await;
    assert_eq!(world.recorded(), ["c-a"]);
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    world.assert_idle();
}

/// INB-08, INB-18: a resubmission is a duplicate by its own id only, whatever blocks its session.
/// SUB-12: the duplicate finishes what a crash after the record left: it unblocks and drains.
#[tokio::test(start_paused = true)]
async fn a_duplicate_resubmission_finishes_the_unblocking() {
    let world = blocked_by("a").await;
    world.record("m-a").await;
    world.record("c-a").await;
    world.send(resubmission("a"), "a").await;
    world.run().await;
    assert_eq!(world.script.begun(), ["b"]);
    assert_eq!(world.lines(), ["SkipResponse a", "ResolutionResponse b"]);
    assert!(!world.state().is_blocked());
    world.assert_idle();

    // The source on record makes no duplicate of it.
    let world = blocked_by("a").await;
    world.record("m-a").await;
    world.send(resubmission("a"), "a").await;
    world.run().await;
    assert_eq!(world.script.begun(), ["a", "b"]);

    // Another event's block is left alone.
    let world = blocked_by("z").await;
    world.record("c-a").await;
    world.send(resubmission("a"), "a").await;
    world.run().await;
    assert_eq!(world.script.begun(), [""; 0]);
    assert_eq!(world.lines(), ["SkipResponse a"]);
    assert!(world.is_still_blocked());
}

/// SUB-16: in a free session a resubmission has the deferred messages drained, however it ends.
#[tokio::test(start_paused = true)]
async fn a_resubmission_in_a_free_session_drains() {
    let endings = [
        "duplicate",
        "success",
        "failure",
        "dead-lettered",
        "discarded",
        "unsupported",
    ];
    for case in endings {
        let world = World::new().await;
        world.park("b").await;
        match case {
            "duplicate" => world.record("c-a").await,
            "failure" => world.script.fail("a", 1),
            "dead-lettered" => world
                .script
                .next("a", async |_| Err(HandlerError::dead_letter("never"))),
            "discarded" => world
                .script
                .next("a", async |_| Err(HandlerError::discard("too late"))),
            _ => {}
        }
        let event_type = if case == "unsupported" {
            "OrderLost"
        } else {
            EVENT_TYPE
        };
        let request = Headers {
            event_type_id: Some(event_type.to_owned()),
            ..resubmission("a")
        };
        world.send(request, "a").await;
        world.run().await;
        assert!(world.script.done().ends_with(&["b".to_owned()]), "{case}");
        assert!(!world.state().has_deferred(), "{case}");
        let dead = world.broker.dead_letters(ENDPOINT).len();
        assert_eq!(dead, usize::from(case == "dead-lettered"), "{case}");
        assert_eq!(world.broker.messages(ENDPOINT), [], "{case}");
        assert_eq!(world.broker.scheduled(ENDPOINT), [], "{case}");
    }
}

/// SUB-12: a failure is reported and completes the resubmission: no automatic retry, no new block,
/// and the block that was there stays as it was.
#[tokio::test(start_paused = true)]
async fn a_resubmission_that_fails_is_only_reported() {
    let policy = || RetryPolicy::fixed(Duration::from_secs(5));
    let world = blocked_by("a").await;
    let before = world.state();
    world.script.fail("a", 1);
    world.send(resubmission("a"), "a").await;
    world.run_with(|builder| builder.retry(policy())).await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(world.lines(), ["ErrorResponse a"]);
    assert_eq!(world.told()[0].error_text(), Some("no stock"));
    assert_eq!(world.state(), before);
    assert_eq!(world.recorded(), [""; 0]);
    world.assert_idle();

    let world = World::new().await;
    world.script.fail("a", 1);
    world.send(resubmission("a"), "a").await;
    world.run_with(|builder| builder.retry(policy())).await;
    assert!(!world.state().is_blocked());
    world.assert_idle();
}

/// SUB-14: a resubmission that hands off parks before anything is unblocked: the session waits for
/// the job under a new block of the same event, which keeps its source (INB-17); a retry of the old
/// block does not run beside the job. A source that the resubmission carries counts for nothing.
#[tokio::test(start_paused = true)]
async fn a_resubmission_that_hands_off_keeps_the_session_blocked() {
    for before in [
        World::blocked_by("a"),
        // One that blocks nothing yet.
        SessionState::default(),
    ] {
        let blocked_before = before.is_blocked();
        let world = World::new().await;
        world.set_state(&before);
        hands_off(&world);
        let forged = Headers {
            inbox_message_id: Some("m-forged".to_owned()),
            ..resubmission("a")
        };
        world.send(forged, "a").await;
        world.send(World::retry("a"), "a").await;
        world.run().await;
        assert_eq!(world.script.begun(), ["a"]);
        assert_eq!(world.lines(), ["PendingHandoffResponse a"]);
        let state = world.state();
        assert!(state.blocked_by_handoff && state.is_blocked_by(Some(&"a".into())));
        assert_ne!(state.block_id.as_deref(), Some("block-1"));
        let source = if blocked_before { "m-a" } else { "c-a" };
        assert_eq!(state.blocked_by_message_id.as_deref(), Some(source));
        assert_eq!(world.recorded(), [""; 0]);
        world.assert_idle();
    }
}

/// SUB-14: while another event owns the block, a resubmission that hands off is reported and leaves
/// that block alone.
#[tokio::test(start_paused = true)]
async fn a_handoff_beside_another_block_is_only_reported() {
    let world = blocked_by("z").await;
    hands_off(&world);
    world.send(resubmission("a"), "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["PendingHandoffResponse a"]);
    assert!(world.is_still_blocked());
    assert!(!world.state().blocked_by_handoff);
    assert_eq!(world.recorded(), [""; 0]);
    world.assert_idle();
}

fn hands_off(world: &World) {
    world.script.next("a", async |context| {
        context.mark_pending_handoff(Handoff::default());
        Ok(())
    });
}

/// SUB-21: a discarded resubmission gives its session free; a dead-lettered or unsupported one
/// leaves the block to the operator.
#[tokio::test(start_paused = true)]
async fn a_resubmission_that_is_set_aside() {
    let world = blocked_by("a").await;
    let discards = async |_| Err(HandlerError::discard("too late"));
    world.script.next("a", discards);
    world.send(resubmission("a"), "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a", "ResolutionResponse b"]);
    assert!(!world.state().is_blocked());
    assert!(!world.is_recorded("m-a") && !world.is_recorded("c-a"));
    world.assert_idle();

    let world = blocked_by("z").await;
    world.script.next("a", discards);
    world.send(resubmission("a"), "a").await;
    world.run().await;
    assert!(world.is_still_blocked());

    let world = blocked_by("a").await;
    world
        .script
        .next("a", async |_| Err(HandlerError::dead_letter("never")));
    world.send(resubmission("a"), "a").await;
    world.run().await;
    assert_eq!(world.broker.dead_letters(ENDPOINT).len(), 1);
    assert!(world.is_still_blocked());

    let world = blocked_by("a").await;
    let unknown = Headers {
        event_type_id: Some("OrderLost".to_owned()),
        ..resubmission("a")
    };
    world.send(unknown, "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["UnsupportedResponse a"]);
    assert!(world.is_still_blocked());
}

/// SUB-12, SUB-16, INB-17: whatever effect of a resubmission a crash follows, the session becomes
/// free, the source is on record, and what waited follows in order.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_effect_of_a_resubmission_loses_and_reorders_nothing() {
    let explored = crate::support::crash_anywhere(20, async |options| {
        let world = World::blocked("a", options).await;
        world.send(resubmission("a"), "a").await;
        world.place("c").await;
        (world, ["a", "b", "c"].as_slice())
    })
    .await;
    assert!(explored > 40, "only {explored} crashes were tried");
}
