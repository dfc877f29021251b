//! A scheduled retry acts on the very block it was scheduled for.

use std::time::Duration;

use nimbus_inbox_testing::BrokerOptions;
use nimbus_messaging::{Headers, SessionState};
use nimbus_subscriber::{HandlerError, Handoff, RetryPolicy};

use crate::support::{ENDPOINT, Journal, World};

async fn blocked_by(order: &str) -> World {
    World::blocked(order, BrokerOptions::default()).await
}

/// SUB-11: success unblocks, drains, and resolves; INB-15: the source is recorded first. SUB-24: the
/// outcome names it, so that the resolver finds the event by the id it was first delivered with.
#[tokio::test(start_paused = true)]
async fn a_retry_that_succeeds_unblocks_and_drains() {
    let world = blocked_by("a").await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    world.send(World::retry("a"), "a").await;
    let running = process.start(process.builder(&world));
    tokio::time::sleep(Duration::from_secs(1)).await;
    running.stop().await;

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
    assert_eq!(world.recorded()[..2], ["m-a", "r-a"]);
    let told = &world.told()[0].headers;
    assert_eq!(told.inbox_message_id.as_deref(), Some("m-a"));
    assert_eq!(world.script.done(), ["a", "b"]);
    assert!(!world.state().is_blocked());
    world.assert_idle();
}

/// SUB-11, INB-16: failure reports, schedules the next retry for the same block, and leaves it.
#[tokio::test(start_paused = true)]
async fn a_retry_that_fails_schedules_the_next() {
    let world = blocked_by("a").await;
    world.script.fail("a", 1);
    world.send(World::retry("a"), "a").await;
    let running =
        world.start_with(|builder| builder.retry(RetryPolicy::fixed(Duration::from_secs(60))));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.lines(), ["ErrorResponse a"]);
    assert_eq!(world.told()[0].headers.retry_count, Some(1));
    assert!(world.is_still_blocked());
    // By this error a redelivery chooses the policy again.
    let error = world.state().blocked_by_error.unwrap();
    assert_eq!(error.error_text.as_deref(), Some("no stock"));
    assert_eq!(world.broker.messages(ENDPOINT), []);
    let scheduled = world.broker.scheduled(ENDPOINT);
    let next = Headers::read(&scheduled[0].1).unwrap();
    assert_eq!(next.retry_count, Some(2));
    assert_eq!(next.inbox_message_id.as_deref(), Some("m-a"));
    assert_eq!(next.block_id.as_deref(), Some("block-1"));
    assert_ne!(next.message_id.as_deref(), Some("r-a"));
    assert_eq!(world.recorded(), [""; 0]);
    running.stop().await;
}

/// SUB-11: a handled retry that comes back before the unblock was written unblocks and drains.
#[tokio::test(start_paused = true)]
async fn a_duplicate_retry_finishes_the_unblocking() {
    let world = blocked_by("a").await;
    world.record("r-a").await;
    world.send(World::retry("a"), "a").await;
    world.run().await;
    assert_eq!(world.script.done(), ["b"]);
    assert_eq!(world.lines(), ["SkipResponse a", "ResolutionResponse b"]);
    assert!(!world.state().is_blocked());
    world.assert_idle();
}

/// SUB-11, SUB-16: one that comes back between unblock and drain drains.
#[tokio::test(start_paused = true)]
async fn a_duplicate_retry_in_a_free_session_drains() {
    let world = World::new().await;
    world.park("b").await;
    world.record("r-a").await;
    world.send(World::retry("a"), "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a", "ResolutionResponse b"]);
    world.assert_idle();
}

/// SUB-11: a block of another event, and a later block of the same event, are left alone by a
/// duplicate.
#[tokio::test(start_paused = true)]
async fn a_duplicate_retry_leaves_a_block_that_is_not_its_own() {
    let late = Headers {
        block_id: Some("block-0".to_owned()),
        ..World::retry("a")
    };
    // The other event's block has an id of its own, as every block has.
    for (blocking, retry) in [("z", late.clone()), ("a", late)] {
        let world = blocked_by(blocking).await;
        world.record("r-a").await;
        world.send(retry, "a").await;
        world.run().await;
        assert_eq!(world.lines(), ["SkipResponse a"], "{blocking}");
        assert!(world.is_still_blocked(), "{blocking}");
        world.assert_idle();
    }
}

/// SUB-11: a retry whose event blocks nothing was completed another way: it is resolved without its
/// handler. SUB-16: if messages wait in a free session, it also has them drained.
#[tokio::test(start_paused = true)]
async fn a_retry_of_an_event_that_was_completed_another_way_is_resolved() {
    let world = World::new().await;
    world.park("b").await;
    world.send(World::retry("a"), "a").await;
    world.run().await;
    assert_eq!(world.script.begun(), ["b"]);
    assert_eq!(
        world.lines(),
        ["ResolutionResponse a", "ResolutionResponse b"]
    );
    world.assert_idle();

    let world = blocked_by("z").await;
    let late = Headers {
        block_id: Some("block-0".to_owned()),
        ..World::retry("a")
    };
    world.send(late, "a").await;
    world.run().await;
    assert_eq!(world.script.begun(), [""; 0]);
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    assert!(world.is_still_blocked());
    world.assert_idle();
}

/// SUB-11, SUB-07: a .NET peer that ends a block leaves the block's id behind, which it doesn't know:
/// the event was completed another way all the same.
#[tokio::test(start_paused = true)]
async fn a_retry_of_a_block_that_a_peer_ended_is_resolved() {
    let world = World::new().await;
    world.set_state(&SessionState {
        blocked_by_event_id: None,
        ..World::blocked_by("a")
    });
    world.send(World::retry("a"), "a").await;
    world.run().await;
    assert_eq!(world.script.begun(), [""; 0]);
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    world.assert_idle();
}

/// SUB-11: a retry of an earlier block of the same event neither runs the handler nor releases the
/// later block, and the resolver is not told that the event was completed.
#[tokio::test(start_paused = true)]
async fn a_retry_of_an_earlier_block_is_only_completed() {
    let world = blocked_by("a").await;
    let late = Headers {
        block_id: Some("block-0".to_owned()),
        ..World::retry("a")
    };
    world.send(late, "a").await;
    world.run().await;
    assert_eq!(world.script.begun(), [""; 0]);
    assert_eq!(world.lines(), [""; 0]);
    assert!(world.is_still_blocked());
    world.assert_idle();
}

/// SUB-11: where one of the two has no block id, the event ids decide; without case, as a .NET peer
/// compares them (SUB-04).
#[tokio::test(start_paused = true)]
async fn without_a_block_id_the_event_decides() {
    for (of_retry, of_state) in [
        (None, Some("block-1")),
        (Some("block-1"), None),
        (None, None),
    ] {
        let world = World::new().await;
        world.set_state(&SessionState {
            block_id: of_state.map(str::to_owned),
            blocked_by_event_id: Some("A".into()),
            ..World::blocked_by("a")
        });
        let retry = Headers {
            block_id: of_retry.map(str::to_owned),
            ..World::retry("a")
        };
        world.send(retry, "a").await;
        world.run().await;
        assert_eq!(world.script.done(), ["a"]);
        assert!(!world.state().is_blocked());
        world.assert_idle();
    }
}

/// SUB-11, SUB-14: a retry that hands off keeps the session blocked, under a new block, and its
/// redelivery does not run the handler beside the job. INB-17: the block keeps the source id that
/// was stored when the event first blocked.
#[tokio::test(start_paused = true)]
async fn a_retry_that_hands_off_keeps_the_session_blocked() {
    for block_id in [Some("block-1"), None] {
        let world = blocked_by("a").await;
        world.script.next("a", async |context| {
            context.mark_pending_handoff(Handoff::default());
            Ok(())
        });
        let retry = Headers {
            // An older version's names neither its block nor its source.
            inbox_message_id: block_id.map(|_| "m-a".to_owned()),
            block_id: block_id.map(str::to_owned),
            ..World::retry("a")
        };
        world.send(retry.clone(), "a").await;
        world.send(retry, "a").await;
        world.run().await;
        assert_eq!(world.script.begun(), ["a"]);
        assert_eq!(world.lines(), ["PendingHandoffResponse a"]);
        let state = world.state();
        assert!(state.blocked_by_handoff && state.is_blocked_by(Some(&"a".into())));
        assert_eq!(state.blocked_by_message_id.as_deref(), Some("m-a"));
        assert_eq!(world.recorded(), [""; 0]);
        assert_eq!(world.parked().len(), 1);
        world.assert_idle();
    }
}

/// SUB-21: a discarded retry gives its session free and has it drained.
#[tokio::test(start_paused = true)]
async fn a_discarded_retry_unblocks_and_drains() {
    let world = blocked_by("a").await;
    world
        .script
        .next("a", async |_| Err(HandlerError::discard("too late")));
    world.send(World::retry("a"), "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a", "ResolutionResponse b"]);
    assert!(!world.state().is_blocked());
    assert!(!world.is_recorded("m-a") && !world.is_recorded("r-a"));
    world.assert_idle();
}

/// SUB-21: a dead-lettered or unsupported retry leaves the block to the operator.
#[tokio::test(start_paused = true)]
async fn a_dead_lettered_or_unsupported_retry_leaves_the_block() {
    let world = blocked_by("a").await;
    world
        .script
        .next("a", async |_| Err(HandlerError::dead_letter("beyond help")));
    world.send(World::retry("a"), "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["ErrorResponse a"]);
    assert_eq!(world.broker.dead_letters(ENDPOINT).len(), 1);
    assert!(world.is_still_blocked());

    let world = blocked_by("a").await;
    let unknown = Headers {
        event_type_id: Some("OrderLost".to_owned()),
        ..World::retry("a")
    };
    world.send(unknown, "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["UnsupportedResponse a"]);
    assert!(world.is_still_blocked());
    world.assert_idle();
}

/// INB-18: a retry is checked by its own id only. Its source on record does not make it a
/// duplicate; the session's block says what to do.
#[tokio::test(start_paused = true)]
async fn a_retry_is_not_a_duplicate_by_its_source() {
    let world = World::new().await;
    world.record("m-a").await;
    world.send(World::retry("a"), "a").await;
    world.run().await;
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
}

/// INB-40: a crash between two records, on a store that can't write both at once, leaves the source
/// on record and the retry not. The retry runs once more; a late delivery of the original does not.
#[tokio::test(start_paused = true)]
async fn a_retry_that_was_recorded_by_half_runs_once_more() {
    let world = blocked_by("a").await;
    world.record("m-a").await;
    world.send(World::retry("a"), "a").await;
    world.run().await;
    world.place("a").await;
    world.run().await;
    assert_eq!(world.script.begun(), ["a", "b"]);
    assert!(world.is_recorded("r-a"));
    assert_eq!(
        world.lines(),
        [
            "ResolutionResponse a",
            "ResolutionResponse b",
            "SkipResponse a"
        ]
    );
    world.assert_idle();
}

/// INB-20, INB-19: a retry made by an older version carries no source: it records its own id alone,
/// and never the id of the chain it belongs to.
#[tokio::test(start_paused = true)]
async fn a_retry_without_a_source_records_its_own_id() {
    let world = World::new().await;
    world.set_state(&SessionState {
        block_id: None,
        blocked_by_message_id: None,
        ..World::blocked_by("a")
    });
    let retry = Headers {
        inbox_message_id: None,
        block_id: None,
        originating_message_id: Some("m-0".to_owned()),
        ..World::retry("a")
    };
    world.send(retry, "a").await;
    world.run().await;
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.recorded(), ["r-a"]);
    assert!(!world.state().is_blocked());
}

/// INB-18: without a session there is no block to ask, so the source decides whether the event was
/// completed another way.
#[tokio::test(start_paused = true)]
async fn a_retry_without_a_session_is_a_duplicate_by_its_source() {
    let world = World::new().await;
    world.script.fail("a", 1);
    world.publish(World::event("a").to(ENDPOINT)).await;
    let policy = RetryPolicy::fixed(Duration::from_secs(5));
    let running = world.start_with(|builder| builder.retry(policy));
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.record("m-a").await;
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(world.lines(), ["ErrorResponse a", "SkipResponse a"]);
    world.assert_idle();
}

/// SUB-10, SUB-20: however often a failing message was published, each retry runs once: what a
/// repeat schedules again is recognised, and the budget is not spent twice.
#[tokio::test(start_paused = true)]
async fn a_repeated_message_does_not_multiply_its_retries() {
    let world = World::new().await;
    for _ in 0..3 {
        world.place("a").await;
    }
    world.script.fail("a", 20);
    let policy = RetryPolicy::fixed(Duration::from_secs(5)).max_retries(3);
    let report = world.run_with(|builder| builder.retry(policy)).await;
    assert_eq!(world.script.begun(), ["a"; 4]);
    assert_eq!(report.failed, 4);
    assert_eq!(world.lines(), ["ErrorResponse a"; 4]);
    assert_eq!(world.state().blocked_retry_count, 3);
    world.assert_idle();
}
