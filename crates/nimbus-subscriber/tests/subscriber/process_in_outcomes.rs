//! What becomes of a handler's own transaction, and of the message, in every end of the handler.

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nimbus_inbox_core::{Error, ErrorKind, Inbox, InboxSetup};
use nimbus_inbox_testing::{Fault, FaultyStore, When};
use nimbus_subscriber::{
    FailureClass, HandlerContext, HandlerError, Handoff, RunReport, Subscriber, SubscriberBuilder,
};

use crate::support::{ENDPOINT, EVENT_TYPE, Logs, OrderPlaced, Process, Script, World};

#[derive(Clone)]
struct Tools {
    inbox: Inbox<FaultyStore>,
    script: Script,
}

impl Tools {
    /// The work of the event in its transaction.
    async fn work(&self, event: OrderPlaced, context: &HandlerContext) -> Result<(), HandlerError> {
        let (script, handling) = (self.script.clone(), context.clone());
        let work = context.process_in(&self.inbox, (), async |tx| {
            script.play_in(tx, event, handling).await
        });
        work.await
    }
}

fn subscriber<F, Fut>(world: &World, process: &Process, handler: F) -> SubscriberBuilder
where
    F: Fn(Tools, OrderPlaced, HandlerContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    let tools = Tools {
        inbox: Inbox::new(ENDPOINT, process.store.clone()).unwrap(),
        script: world.script.clone(),
    };
    Subscriber::builder(ENDPOINT)
        .clock(world.clock)
        .inbox(InboxSetup::new(process.store.clone()))
        .handle_with(tools, EVENT_TYPE, handler)
}

/// Runs a subscriber with this handler on one delivery of the event `a`.
async fn run<F, Fut>(world: &World, handler: F) -> RunReport
where
    F: Fn(Tools, OrderPlaced, HandlerContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    run_with(world, handler, |builder| builder).await
}

async fn run_with<F, Fut>(
    world: &World,
    handler: F,
    configure: impl FnOnce(SubscriberBuilder) -> SubscriberBuilder,
) -> RunReport
where
    F: Fn(Tools, OrderPlaced, HandlerContext) -> Fut + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    world.place("a").await;
    let process = world.process();
    let running = process.start(configure(subscriber(world, &process, handler)));
    world.settle().await;
    running.stop().await
}

/// SUB-39, INB-12: a failure of any class, and a panic, roll effect and record back, and are
/// reported as they would be without the transaction.
#[tokio::test(start_paused = true)]
async fn a_failure_of_any_class_rolls_both_back() {
    for (class, told) in [
        (FailureClass::Retry, "ErrorResponse a"),
        (FailureClass::Discard, "SkipResponse a"),
        (FailureClass::DeadLetter, "ErrorResponse a"),
    ] {
        let world = World::new().await;
        world.script.next("a", async move |_| {
            Err(HandlerError::new("no stock").with_class(class))
        });
        run(&world, async |tools: Tools, event, context| {
            tools.work(event, &context).await
        })
        .await;
        assert_eq!(world.script.done(), [""; 0], "{class:?}");
        assert_eq!(world.recorded(), [""; 0], "{class:?}");
        assert_eq!(world.lines(), [told], "{class:?}");
        assert_eq!(
            world.broker.dead_letters(ENDPOINT).len(),
            usize::from(class == FailureClass::DeadLetter)
        );
    }
    let world = World::new().await;
    world.script.next("a", async |_| panic!("injected"));
    run(&world, async |tools: Tools, event, context| {
        tools.work(event, &context).await
    })
    .await;
    assert_eq!(world.script.done(), [""; 0]);
    assert_eq!(world.recorded(), [""; 0]);
    assert_eq!(world.told()[0].error_type(), Some("panic"));
}

/// SUB-39, INB-13, SUB-14: work that was handed off, in the transaction or before it, commits its
/// effects and no record; the session is blocked until the job is settled. An error afterwards
/// changes nothing, since the effects are there; nor do layers around the handler (SUB-23).
#[tokio::test(start_paused = true)]
async fn a_handoff_commits_the_effects_without_a_record() {
    for (before, fails, layered) in [
        (true, false, false),
        (false, false, false),
        (false, true, false),
        (false, true, true),
    ] {
        let world = World::new().await;
        if !before {
            world.script.next("a", async |context| {
                context.mark_pending_handoff(Handoff::default());
                Ok(())
            });
        }
        let report = run_with(
            &world,
            move |tools: Tools, event, context: HandlerContext| async move {
                if before {
                    context.mark_pending_handoff(Handoff::default());
                }
                tools.work(event, &context).await?;
                if fails {
                    return Err(HandlerError::new("afterwards"));
                }
                Ok(())
            },
            |builder| match layered {
                true => builder.layer(tower::layer::util::Identity::new()),
                false => builder,
            },
        )
        .await;
        assert_eq!(world.script.done(), ["a"]);
        assert_eq!(world.recorded(), [""; 0]);
        assert_eq!(world.lines(), ["PendingHandoffResponse a"]);
        assert!(world.state().blocked_by_handoff);
        assert_eq!((report.handed_off, report.failed), (1, 0));
        world.assert_idle();
    }
}

/// How a handler goes on after its commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Afterwards {
    Fails,
    Panics,
    HandsOff,
    CallsAgain,
    CallsAnother,
}

/// SUB-39, INB-12: what is recorded has succeeded, whatever the handler does afterwards: success is
/// reported, the work does not run again, and the person on call reads of it.
#[tokio::test(start_paused = true)]
async fn what_comes_after_the_commit_changes_nothing() {
    for (afterwards, logged) in [
        (Afterwards::Fails, "after its transaction was decided"),
        (Afterwards::Panics, "after its transaction was decided"),
        (Afterwards::HandsOff, "handed its work off after"),
        (Afterwards::CallsAgain, "process_in again"),
        (Afterwards::CallsAnother, "of the endpoint"),
    ] {
        let logs = Logs::capture();
        let world = World::new().await;
        let report = run(
            &world,
            move |tools: Tools, event: OrderPlaced, context: HandlerContext| async move {
                tools.work(event.clone(), &context).await?;
                match afterwards {
                    Afterwards::Fails => Err(HandlerError::new("afterwards")),
                    Afterwards::Panics => panic!("afterwards"),
                    Afterwards::HandsOff => {
                        context.mark_pending_handoff(Handoff::default());
                        Ok(())
                    }
                    Afterwards::CallsAgain => tools.work(event, &context).await,
                    Afterwards::CallsAnother => {
                        let other = Inbox::new("Other", tools.inbox.store().as_ref().clone())?;
                        let tools = Tools {
                            inbox: other,
                            ..tools
                        };
                        tools.work(event, &context).await
                    }
                }
            },
        )
        .await;
        assert_eq!((report.handled, report.failed), (1, 0), "{afterwards:?}");
        assert_eq!(world.script.done(), ["a"], "{afterwards:?}");
        assert_eq!(world.recorded(), ["m-a"], "{afterwards:?}");
        assert_eq!(world.lines(), ["ResolutionResponse a"], "{afterwards:?}");
        assert!(!world.state().is_blocked(), "{afterwards:?}");
        let lines = logs.lines(logged);
        assert_eq!(lines.len(), 1, "{afterwards:?}: {}", logs.text());
        assert!(lines[0].contains("ERROR"), "{}", lines[0]);
        world.assert_idle();
    }
}

/// SUB-39, INB-14: a handler that is dropped after its commit has succeeded: it is reported and
/// settled, not delivered again.
#[tokio::test(start_paused = true)]
async fn a_handler_dropped_after_its_commit_has_succeeded() {
    let world = World::new().await;
    world.place("a").await;
    let process = world.process();
    let builder = subscriber(&world, &process, async |tools: Tools, event, context| {
        tools.work(event, &context).await?;
        std::future::pending().await
    });
    let running = process.start(builder.drain_deadline(Duration::from_secs(1)));
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(world.lines(), [""; 0]);
    let report = running.stop().await;
    assert_eq!((report.handled, report.left), (1, 0));
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    world.assert_idle();
}

/// SUB-39: with an inbox of another endpoint nothing is run; the failure says what to do.
#[tokio::test(start_paused = true)]
async fn an_inbox_of_another_endpoint_runs_nothing() {
    let world = World::new().await;
    run(&world, async |tools: Tools, _, context: HandlerContext| {
        // Endpoints are compared byte by byte, as keys are.
        let store = tools.inbox.store().as_ref().clone();
        let other = Inbox::new(ENDPOINT.to_uppercase(), store)?;
        let refused = context
            .process_in(&other, (), async |_| -> Result<(), Error> {
                panic!("ran on the inbox of another endpoint")
            })
            .await
            .unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Configuration);
        Err(refused.into())
    })
    .await;
    assert_eq!(world.recorded(), [""; 0]);
    assert_eq!(world.lines(), ["ErrorResponse a"]);
    let told = world.told();
    let text = told[0].error_text().unwrap();
    assert!(
        text.contains("BILLINGENDPOINT") && text.contains(ENDPOINT),
        "{text}"
    );
}

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
        let builder = subscriber(
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
    let builder = subscriber(&world, &process, async |tools: Tools, event, context| {
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
            let builder = subscriber(
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
    run(
        &world,
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
    )
    .await;
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
