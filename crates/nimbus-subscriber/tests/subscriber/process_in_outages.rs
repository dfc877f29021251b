//! What becomes of a handler's own transaction, and of the message, where the store fails or the
//! transaction is cut off.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nimbus_inbox_testing::{Fault, When};
use nimbus_subscriber::{
    HandlerContext, HandlerError, HandlerRequest, HandlerService, RetryPolicy,
};
use tower::ServiceExt;

use crate::support::{ENDPOINT, OrderPlaced, Tools, World, around, claiming};

/// SUB-39: after a rollback a handler may try once more in the same run, whether its work failed or
/// the store.
#[tokio::test(start_paused = true)]
async fn a_handler_may_try_again_after_a_rollback() {
    for store_fails in [true, false] {
        let world = World::new().await;
        let process = world.process();
        if store_fails {
            let fault = When::record().first(1);
            process.store.inject(fault, Fault::transient());
        } else {
            world.script.fail("a", 1);
        }
        world.place("a").await;
        let builder = claiming(
            &world,
            &process,
            async |tools: Tools, event: OrderPlaced, context: HandlerContext| match tools
                .work(event.clone(), &context)
                .await
            {
                Ok(()) => Ok(()),
                Err(_) => tools.work(event, &context).await,
            },
        );
        let running = process.start(builder);
        world.settle().await;
        let report = running.stop().await;
        assert_eq!((report.handled, report.failed), (1, 0));
        assert_eq!((report.received, report.duplicates), (1, 0));
        assert_eq!(world.script.done(), ["a"]);
        assert_eq!(world.recorded(), ["m-a"]);
    }
}

/// SUB-39, INB-11: a step that fails before the commit leaves neither, and the message is delivered
/// again. SUB-30: intake pauses meanwhile, so that no deliveries are burned.
#[tokio::test(start_paused = true)]
async fn an_outage_before_the_commit_burns_no_deliveries() {
    let world = World::new().await;
    let process = world.process();
    process.store.inject(When::record(), Fault::transient());
    world.place("a").await;
    let builder = claiming(&world, &process, async |tools: Tools, event, context| {
        tools.work(event, &context).await
    });
    let running = process.start(builder);
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(world.lines(), [""; 0]);
    assert_eq!(world.broker.messages(ENDPOINT)[0].delivery_count, 1);
    process.store.heal();
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.recorded(), ["m-a"]);
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    world.assert_idle();
}

/// What a handler makes of a commit whose answer was lost.
#[derive(Debug, Clone, Copy)]
enum Reaction {
    HandsItOn,
    SwallowsIt,
    CallsItFailed,
    TriesAgain,
    /// It doesn't wait for the answer.
    CutsItOff,
}

/// SUB-39, INB-26: whether a commit whose answer was lost took effect is found out by the
/// redelivery, whatever the handler returned: one that took effect is a duplicate then, and one
/// that didn't is run.
#[tokio::test(start_paused = true)]
async fn a_commit_in_doubt_is_decided_by_the_redelivery() {
    for reaction in [
        Reaction::HandsItOn,
        Reaction::SwallowsIt,
        Reaction::CallsItFailed,
        Reaction::TriesAgain,
        Reaction::CutsItOff,
    ] {
        for took_effect in [true, false] {
            let world = World::new().await;
            let process = world.process();
            let fault = match (reaction, took_effect) {
                (Reaction::CutsItOff, true) => Fault::hang().after_effect(),
                (Reaction::CutsItOff, false) => Fault::hang(),
                (_, true) => Fault::answer_lost(),
                (_, false) => Fault::transient(),
            };
            process.store.inject(When::commit().first(1), fault);
            world.place("a").await;
            let builder = claiming(
                &world,
                &process,
                move |tools: Tools, event: OrderPlaced, context: HandlerContext| async move {
                    let work = tools.work(event.clone(), &context);
                    let patience = Duration::from_secs(5);
                    let Ok(ended) = tokio::time::timeout(patience, work).await else {
                        return Err(HandlerError::retry("too slow"));
                    };
                    match (ended, reaction) {
                        (Ok(()), _) | (Err(_), Reaction::SwallowsIt) => Ok(()),
                        (ended, Reaction::HandsItOn | Reaction::CutsItOff) => ended,
                        (Err(_), Reaction::CallsItFailed) => Err(HandlerError::retry("failed")),
                        (Err(_), Reaction::TriesAgain) => tools.work(event, &context).await,
                    }
                },
            );
            let running = process.start(builder);
            world.settle().await;
            running.stop().await;
            let context = format!("{reaction:?}, took effect {took_effect}");
            assert_eq!(world.script.done(), ["a"], "{context}");
            assert_eq!(world.recorded(), ["m-a"], "{context}");
            let told = if took_effect {
                "SkipResponse a"
            } else {
                "ResolutionResponse a"
            };
            assert_eq!(world.lines(), [told], "{context}");
            world.assert_idle();
        }
    }
}

/// SUB-39, INB-41: a delivery that waits behind another of the same message runs its work no second
/// time when a timeout of the handler, or of the store, ends the wait: it is left for redelivery, which
/// finds the record. As a failure it would be retried, and a retry runs whatever its source says.
#[tokio::test(start_paused = true)]
async fn a_claim_that_is_given_up_runs_nothing_twice() {
    let seconds = Duration::from_secs;
    for (limit, by_handler) in [
        (seconds(10), true),
        (seconds(10), false),
        (seconds(300), false),
    ] {
        let world = World::new().await;
        world.script.next("a", async |_| {
            tokio::time::sleep(Duration::from_secs(90)).await;
            Ok(())
        });
        let process = world.process();
        let builder = claiming(
            &world,
            &process,
            move |tools: Tools, event, context: HandlerContext| async move {
                let work = tools.work(event, &context);
                if context.session_id() != Some("2") || !by_handler {
                    return work.await;
                }
                tokio::time::timeout(limit, work).await?
            },
        );
        let builder = builder.retry(RetryPolicy::fixed(seconds(1)));
        let layer = around(move |request: HandlerRequest, inner: HandlerService| {
            let limited = request.context().session_id() == Some("2") && !by_handler;
            async move {
                let run = inner.oneshot(request);
                if !limited {
                    return run.await;
                }
                let ended = tokio::time::timeout(limit, run).await;
                ended.unwrap_or_else(|_| Err(HandlerError::new("too late").with_type("timeout")))
            }
        });
        let running = process.start(builder.layer(layer));
        world.place_in("1", "a").await;
        tokio::time::sleep(seconds(1)).await;
        world.place_in("2", "a").await;
        world.settle().await;
        let report = running.stop().await;
        assert_eq!(world.script.begun(), ["a"], "{limit:?} {by_handler}");
        assert_eq!((report.handled, report.duplicates), (1, 1));
        assert_eq!((report.failed, report.retries_scheduled), (0, 0));
        world.assert_idle();
    }
}

/// SUB-39: a transaction that a handler leaves behind in a task of its own may commit after the
/// handler has returned, so the message is left for redelivery; one that begins after it is refused.
#[tokio::test(start_paused = true)]
async fn a_transaction_left_behind_is_decided_by_the_redelivery() {
    let world = World::new().await;
    world.script.next("a", async |_| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        Ok(())
    });
    let refusal = Arc::new(OnceLock::new());
    let refused = Arc::clone(&refusal);
    world.place("a").await;
    let process = world.process();
    let builder = claiming(
        &world,
        &process,
        move |tools: Tools, event: OrderPlaced, context: HandlerContext| {
            let refused = Arc::clone(&refused);
            async move {
                let late = (tools.clone(), event.clone(), context.clone());
                tokio::spawn(async move { tools.work(event, &context).await });
                tokio::spawn(async move {
                    let (tools, event, context) = late;
                    tokio::time::sleep(Duration::from_secs(10)).await;
                    let ended = tools.work(event, &context).await;
                    refused.set(ended.map_err(|error| error.to_string()))
                });
                tokio::task::yield_now().await;
                Ok(())
            }
        },
    );
    let running = process.start(builder);
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.begun(), ["a"]);
    let refusal = refusal.get().unwrap().as_ref().unwrap_err();
    assert!(
        refusal.contains("after the handler had returned"),
        "{refusal}"
    );
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.recorded(), ["m-a"]);
    assert_eq!(world.lines(), ["SkipResponse a"]);
    world.assert_idle();
}
