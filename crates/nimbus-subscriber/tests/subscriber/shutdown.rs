//! What a stop, a dropped `run` and a deadline do to the work under way.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use nimbus_inbox_testing::{BrokerOperation, Fault, When};
use nimbus_subscriber::{HandlerError, RetryPolicy};
use tokio::time::Instant;

use crate::support::{Disturb, ENDPOINT, Running, Strike, World, session};

/// How a run is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Interruption {
    /// The task that runs `run` is aborted, which drops it.
    Dropped,
    /// It is asked to stop, and gives handlers no time.
    Stopped,
}

/// INB-14: `run` is dropped, or stopped without patience, at every point: before and after each
/// effect, and at each await of the handler. A handler that has returned is recorded, reported and
/// settled all the same; else nothing is recorded, no error is sent, nothing is dead-lettered, and
/// the message is delivered again.
#[tokio::test(start_paused = true)]
async fn an_interruption_at_any_point_is_all_or_nothing() {
    for interruption in [Interruption::Dropped, Interruption::Stopped] {
        let (mut finished, mut begun_in_vain, mut at) = (0, 0, 0);
        while let Some(world) = interrupted(interruption, at).await {
            let context = format!("{interruption:?} at point {at}");
            if world.script.done().is_empty() {
                begun_in_vain += world.script.begun().len();
                assert_eq!(world.recorded(), [""; 0], "{context}");
                assert_eq!(world.lines(), [""; 0], "{context}");
                assert_eq!(world.broker.messages(ENDPOINT).len(), 1, "{context}");
                assert_eq!(world.broker.dead_letters(ENDPOINT), [], "{context}");
            } else {
                finished += 1;
                assert_eq!(world.recorded(), ["m-a"], "{context}");
                assert_eq!(world.lines(), ["ResolutionResponse a"], "{context}");
                world.assert_idle();
            }
            world.run().await;
            assert_eq!(world.script.done(), ["a"], "{context}");
            assert_eq!(world.lines(), ["ResolutionResponse a"], "{context}");
            world.assert_idle();
            at += 1;
        }
        assert!(
            finished >= 8 && begun_in_vain >= 3,
            "{finished}, {begun_in_vain}"
        );
    }
}

/// A run with one message, interrupted at its nth point; `None` when it has no such point.
async fn interrupted(interruption: Interruption, at: u64) -> Option<World> {
    let world = World::new().await;
    let process = world.process();
    let strike_now = Arc::new(OnceLock::<Box<dyn Fn() + Send + Sync>>::new());
    let action = Arc::clone(&strike_now);
    let strike = process.plan(&world, at, move || action.get().unwrap()());
    let steps = strike.clone();
    world.script.next("a", async move |_| {
        for _ in 0..3 {
            steps.point();
            tokio::time::sleep(Duration::from_secs(1)).await;
        }
        steps.point();
        Ok(())
    });
    world.place("a").await;
    let builder = process.builder(&world).drain_deadline(Duration::ZERO);
    let running = process.start(builder);
    let (abort, stop) = (running.task.abort_handle(), running.stop.clone());
    let action: Box<dyn Fn() + Send + Sync> = match interruption {
        Interruption::Dropped => Box::new(move || abort.abort()),
        Interruption::Stopped => Box::new(move || stop.cancel()),
    };
    assert!(strike_now.set(action).is_ok());
    struck(&world, strike, running).await.then_some(world)
}

async fn struck(world: &World, strike: Strike, running: Running) -> bool {
    // Long enough for the work, too short for a cleanup.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let struck = strike.has_struck();
    // The broker keeps the hook, so what it plans must have no later effect.
    world.broker.clear_hooks();
    running.stop.cancel();
    let _ = running.task.await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    struck
}

/// INB-14: a handler that returns success in the very moment in which it would be dropped has
/// returned.
#[tokio::test(start_paused = true)]
async fn a_handler_that_returns_as_it_is_dropped_has_returned() {
    for interruption in [Interruption::Dropped, Interruption::Stopped] {
        let world = World::new().await;
        world.script.next("a", async |context| {
            context.stopping().cancelled().await;
            Ok(())
        });
        world.place("a").await;
        let running = world.start_with(|builder| builder.drain_deadline(Duration::ZERO));
        tokio::time::sleep(Duration::from_secs(10)).await;
        match interruption {
            Interruption::Dropped => running.drop_run(),
            Interruption::Stopped => running.stop.cancel(),
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert_eq!(world.recorded(), ["m-a"], "{interruption:?}");
        assert_eq!(world.lines(), ["ResolutionResponse a"], "{interruption:?}");
        world.assert_idle();
    }
}

/// INB-14: the same where the handler fails: a failure that was reported blocks and is retried.
#[tokio::test(start_paused = true)]
async fn an_interruption_after_a_failure_still_blocks_and_schedules() {
    let mut reported = 0;
    for at in 0.. {
        let world = World::new().await;
        let process = world.process();
        let abort = Arc::new(OnceLock::<tokio::task::AbortHandle>::new());
        let aborted = Arc::clone(&abort);
        let strike = process.plan(&world, at, move || aborted.get().unwrap().abort());
        world.script.fail("a", 1);
        world.place("a").await;
        let policy = RetryPolicy::fixed(Duration::from_secs(3_000));
        let running = process.start(process.builder(&world).retry(policy));
        abort.set(running.task.abort_handle()).unwrap();
        if !struck(&world, strike, running).await {
            assert!(reported > 5, "{reported} of {at}");
            return;
        }
        if world.lines().is_empty() {
            // Before the handler returned its error, or as it did: cancelled.
            assert!(!world.state().is_blocked(), "dropped at point {at}");
            assert_eq!(world.broker.scheduled(ENDPOINT), []);
            assert_eq!(world.broker.messages(ENDPOINT).len(), 1);
        } else {
            reported += 1;
            assert_eq!(world.lines(), ["ErrorResponse a"], "dropped at point {at}");
            assert!(world.state().is_blocked(), "dropped at point {at}");
            assert_eq!(world.broker.scheduled(ENDPOINT).len(), 1);
            assert_eq!(world.broker.messages(ENDPOINT), []);
        }
    }
}

/// INB-14, SUB-29: a stop lets the handler finish within the drain deadline, and takes nothing new.
/// SUB-26: the context tells the handler that it is time to come to an end.
#[tokio::test(start_paused = true)]
async fn a_stop_waits_for_the_handler() {
    let world = World::new().await;
    world.script.next("a", async |context| {
        assert!(!context.stopping().is_cancelled());
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert!(context.stopping().is_cancelled());
        Ok(())
    });
    world.place("a").await;
    world.place("b").await;
    let running = world.start_with(|builder| builder.drain_deadline(Duration::from_secs(30)));
    tokio::time::sleep(Duration::from_secs(10)).await;
    let begun = Instant::now();
    let report = running.stop().await;
    assert_eq!(begun.elapsed().as_secs(), 10);
    assert_eq!((report.handled, report.left, report.unfinished), (1, 0, 0));
    assert_eq!(world.recorded(), ["m-a"]);
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    let left = world.broker.messages(ENDPOINT);
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].envelope.message_id.as_deref(), Some("m-b"));
    assert_eq!(left[0].delivery_count, 0);
}

/// INB-14, SUB-29: a handler that outlasts the drain deadline is dropped: cancelled, not failed.
#[tokio::test(start_paused = true)]
async fn a_handler_past_the_deadline_is_dropped() {
    let world = World::new().await;
    let dropped = Arc::new(AtomicBool::new(false));
    let guard = SetOnDrop(Arc::clone(&dropped));
    world.script.next("a", async move |_| {
        let _guard = guard;
        std::future::pending().await
    });
    world.place("a").await;
    let running = world.start_with(|builder| builder.drain_deadline(Duration::from_secs(7)));
    tokio::time::sleep(Duration::from_secs(100)).await;
    let begun = Instant::now();
    let report = running.stop().await;
    assert_eq!(begun.elapsed().as_secs(), 7);
    assert!(dropped.load(Ordering::SeqCst));
    assert_eq!((report.left, report.failed, report.unfinished), (1, 0, 0));
    assert_eq!(world.recorded(), [""; 0]);
    assert_eq!(world.lines(), [""; 0]);
    assert!(!world.state().is_blocked());
    world.run().await;
    assert_eq!(world.script.done(), ["a"]);
    world.assert_idle();
}

struct SetOnDrop(Arc<AtomicBool>);

impl Drop for SetOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// INB-14: a handler that gives up because it was told to stop is cancelled, not failed, whatever
/// it says.
#[tokio::test(start_paused = true)]
async fn a_handler_that_gives_up_at_a_stop_is_cancelled() {
    type Error = fn() -> HandlerError;
    let errors: [Error; 4] = [
        || HandlerError::new("stopped"),
        || HandlerError::discard("stopped"),
        || HandlerError::dead_letter("stopped"),
        || panic!("stopped"),
    ];
    for error in errors {
        let world = World::new().await;
        world.script.next("a", async move |context| {
            context.stopping().cancelled().await;
            Err(error())
        });
        world.place("a").await;
        let policy = RetryPolicy::fixed(Duration::from_secs(1));
        let running = world.start_with(|builder| builder.retry(policy));
        tokio::time::sleep(Duration::from_secs(10)).await;
        let report = running.stop().await;
        assert_eq!(
            (report.left, report.failed, report.dead_lettered),
            (1, 0, 0)
        );
        assert_eq!(world.lines(), [""; 0]);
        assert_eq!(world.recorded(), [""; 0]);
        assert!(!world.state().is_blocked());
        assert_eq!(world.broker.messages(ENDPOINT).len(), 1);
        assert_eq!(world.broker.scheduled(ENDPOINT), []);
    }
}

/// INB-14: record, outcome and settlement that are slow outlast the drain deadline: each runs to
/// the end on its own bound.
#[tokio::test(start_paused = true)]
async fn a_slow_tail_outlasts_the_deadline() {
    let world = World::new().await;
    let process = world.process();
    let slow = Fault::delay(Duration::from_secs(20));
    process.store.inject(When::record(), slow);
    let until = tokio_util::sync::CancellationToken::new();
    let complete = Disturb::calls(BrokerOperation::Complete);
    world.broker.add_hook(complete.hold(&until));
    world.place("a").await;
    let builder = process
        .builder(&world)
        .drain_deadline(Duration::from_secs(1));
    let running = process.start(builder);
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert_eq!(world.script.done(), ["a"]);
    running.stop.cancel();
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    until.cancel();
    let report = running.stop().await;
    assert_eq!((report.handled, report.left, report.unfinished), (1, 0, 0));
    assert_eq!(world.recorded(), ["m-a"]);
    world.assert_idle();
}

/// SUB-29: a stop while the subscriber still starts ends it, and so does a drop; health says so.
#[tokio::test(start_paused = true)]
async fn a_stop_during_the_start_ends_it() {
    let world = World::new().await;
    let until = tokio_util::sync::CancellationToken::new();
    let verify = Disturb::calls(BrokerOperation::Verify);
    world.broker.add_hook(verify.hold(&until));
    let running = world.start();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let health = running.health.clone();
    assert!(health.liveness().ok && !health.readiness().ok);
    let report = running.stop().await;
    assert_eq!(report.received, 0);
    assert!(!health.liveness().ok);

    let running = world.start();
    tokio::time::sleep(Duration::from_secs(60)).await;
    let health = running.health.clone();
    running.drop_run();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!health.liveness().ok);
}

/// SUB-31: from before the start to the end, readiness says what the subscriber does, and liveness
/// passes until it has ended.
#[tokio::test(start_paused = true)]
async fn health_follows_the_run() {
    let world = World::new().await;
    let process = world.process();
    let until = tokio_util::sync::CancellationToken::new();
    let verify = Disturb::calls(BrokerOperation::Verify);
    world.broker.add_hook(verify.hold(&until));
    world.script.next("a", async |_| {
        tokio::time::sleep(Duration::from_secs(20)).await;
        Ok(())
    });
    world.place("a").await;
    let builder = process.builder(&world);
    let subscriber = builder.build(process.transport.clone()).unwrap();
    let health = subscriber.health();
    let of = |alive: bool, ready: bool, reason: &str| {
        let (liveness, readiness) = (health.liveness(), health.readiness());
        assert_eq!((liveness.ok, readiness.ok), (alive, ready), "{readiness}");
        assert!(readiness.reason.contains(reason), "{readiness}");
        assert_eq!(liveness.reason, readiness.reason);
    };
    of(true, false, "not been started");
    let stop = tokio_util::sync::CancellationToken::new();
    let run = tokio::spawn(subscriber.run(stop.clone().cancelled_owned()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    of(true, false, "verifying");
    until.cancel();
    tokio::time::sleep(Duration::from_secs(1)).await;
    of(true, true, "is receiving");
    stop.cancel();
    tokio::time::sleep(Duration::from_secs(1)).await;
    of(true, false, "in flight");
    run.await.unwrap().unwrap();
    of(false, false, "has ended");
}

/// SUB-31: a dropped run is not alive any more, and its process receives nothing.
#[tokio::test(start_paused = true)]
async fn a_dropped_run_has_ended() {
    let world = World::new().await;
    let running = world.start();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let health = running.health.clone();
    assert!(health.readiness().ok);
    running.drop_run();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(!health.liveness().ok && !health.readiness().ok);
    world.place("a").await;
    world.settle().await;
    assert_eq!(world.script.begun(), [""; 0]);
}

/// INB-14, SUB-29: where the lock is lost, or the drain deadline passes, before the handler has begun,
/// it doesn't begin at all: not even the part before its first await may run beside the successor's.
#[tokio::test(start_paused = true)]
async fn a_handler_that_is_too_late_does_not_begin() {
    for lock_is_lost in [true, false] {
        let world = World::new().await;
        let process = world.process();
        let builder = process
            .builder(&world)
            .session_idle(Duration::from_secs(60))
            .drain_deadline(Duration::from_secs(5));
        let running = process.start(builder);
        // The state of the session is known, so no fence stands before the handler of the next.
        world.place("a").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        let slow = Fault::delay(Duration::from_secs(20)).after_effect();
        process.store.inject(When::check().first(1), slow);
        world.place("b").await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        if lock_is_lost {
            world.broker.expire_lock(ENDPOINT, &session("s"));
            tokio::time::sleep(Duration::from_secs(15)).await;
        }
        let report = running.stop().await;
        assert_eq!(report.left, 1, "{lock_is_lost}");
        world.run().await;
        assert_eq!(world.script.begun(), ["a", "b"], "{lock_is_lost}");
        world.assert_idle();
    }
}
