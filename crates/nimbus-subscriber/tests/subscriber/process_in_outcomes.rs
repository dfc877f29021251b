//! What becomes of a handler's own transaction, and of the message, in every end of the handler.

use std::time::Duration;

use nimbus_inbox_core::{Error, ErrorKind, Inbox};
use nimbus_subscriber::{
    FailureClass, HandlerContext, HandlerError, Handoff, RunReport, SubscriberBuilder,
};

use crate::support::{ENDPOINT, Logs, OrderPlaced, Tools, World, claiming};

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
    let running = process.start(configure(claiming(world, &process, handler)));
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
    let builder = claiming(&world, &process, async |tools: Tools, event, context| {
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
