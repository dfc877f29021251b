//! Handlers that fail time and again cost no delivery counts.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nimbus_inbox_testing::BrokerOperation;
use nimbus_subscriber::{CircuitBreaker, HandlerError, HandlerService, RetryPolicy};
use tower::ServiceExt;

use crate::support::{Calls, ENDPOINT, Logs, Middleware, World, around, session};

const SECOND: Duration = Duration::from_secs(1);

/// Something that handlers need, and that may be out.
#[derive(Clone, Default)]
struct Dependency(Arc<AtomicBool>);

impl Dependency {
    fn out() -> Self {
        let dependency = Self::default();
        dependency.0.store(true, Ordering::SeqCst);
        dependency
    }

    fn heal(&self) {
        self.0.store(false, Ordering::SeqCst);
    }

    /// While it is out, runs fail with this error.
    fn layer(
        &self,
        error: fn() -> HandlerError,
    ) -> impl tower::Layer<HandlerService, Service: Middleware> + Send + Sync + 'static {
        let dependency = self.clone();
        around(move |request, inner: HandlerService| {
            let is_out = dependency.0.load(Ordering::SeqCst);
            async move {
                if is_out {
                    return Err(error());
                }
                inner.oneshot(request).await
            }
        })
    }
}

fn outage() -> HandlerError {
    HandlerError::transient("the payment service does not answer")
}

fn breaker() -> CircuitBreaker {
    CircuitBreaker::consecutive(5).open_for(30 * SECOND)
}

/// SUB-23, SUB-30: while the circuit is open nothing is received: an outage of an hour costs most
/// messages no delivery and none of them its life, and when handlers succeed again all are handled.
/// SUB-31: readiness says why, and is back afterwards.
#[tokio::test(start_paused = true)]
async fn an_open_circuit_pauses_intake() {
    let logs = Logs::capture();
    let world = World::new().await;
    let calls = Calls::count(&world);
    let dependency = Dependency::out();
    for number in 0..40 {
        let order = format!("order-{number}");
        world.place_in(&format!("session-{number}"), &order).await;
    }
    let layer = dependency.layer(outage);
    let running = world.start_with(|builder| builder.circuit_breaker(breaker()).layer(layer));
    tokio::time::sleep(SECOND).await;
    let ready = running.health.readiness();
    assert!(!ready.ok && ready.reason.contains("circuit breaker is open"));
    assert!(running.health.liveness().ok);
    world.settle().await;

    let waiting = world.broker.messages(ENDPOINT);
    assert_eq!(waiting.len(), 40);
    assert!(waiting.iter().all(|message| message.delivery_count <= 2));
    let burnt: u32 = waiting.iter().map(|message| message.delivery_count).sum();
    // Eight sessions before it opened, and the message that is tried.
    assert!(burnt <= 9, "{burnt} deliveries were spent on the outage");
    assert!(calls.of(BrokerOperation::Accept) < 100);
    assert_eq!(world.lines(), [""; 0]);
    assert_eq!(world.recorded(), [""; 0]);
    assert!(!running.health.readiness().ok);

    dependency.heal();
    world.settle().await;
    assert!(running.health.readiness().ok);
    running.stop().await;
    assert_eq!(world.script.done().len(), 40);
    assert_eq!(logs.lines("the circuit breaker closes").len(), 1);
    world.assert_idle();
}

/// SUB-23: failures that are retried count as well, and no retry is spent while the circuit is open;
/// sessions keep their order.
#[tokio::test(start_paused = true)]
async fn an_open_circuit_spends_no_retries() {
    let world = World::new().await;
    let dependency = Dependency::out();
    for session in 0..5 {
        for event in 0..3 {
            let order = format!("{session}-{event}");
            world.place_in(&format!("s-{session}"), &order).await;
        }
    }
    let policy = RetryPolicy::fixed(SECOND).max_retries(1);
    let layer = dependency.layer(|| HandlerError::new("the payment service does not answer"));
    let configured = breaker().open_for(60 * SECOND);
    let running = world.start_with(|builder| {
        builder
            .retry(policy)
            .circuit_breaker(configured)
            .layer(layer)
    });
    tokio::time::sleep(50 * SECOND).await;
    assert!(!running.health.readiness().ok);
    dependency.heal();
    world.settle().await;
    let report = running.stop().await;
    assert_eq!((report.failed, report.retries_scheduled), (5, 5));
    assert_eq!(report.handled, 15);
    for session in 0..5 {
        let done = world.script.done();
        let of_session = done
            .iter()
            .filter(|order| order.starts_with(&format!("{session}-")));
        let expected = [0, 1, 2].map(|event| format!("{session}-{event}"));
        assert!(of_session.eq(expected.iter()), "{done:?}");
    }
    world.assert_idle();
}

/// SUB-23, SUB-21: events that are discarded or dead-lettered say nothing about what handlers need, and
/// a duplicate or a cancelled run says nothing at all.
#[tokio::test(start_paused = true)]
async fn faults_of_single_events_do_not_open_it() {
    let world = World::new().await;
    for number in 0..4 {
        for error in [HandlerError::discard, HandlerError::dead_letter] {
            let order = format!("{number}-{:?}", error("").class());
            world
                .script
                .next(&order, async move |_| Err(error("the event is wrong")));
            world.place_in(&order, &order).await;
        }
    }
    let configured = CircuitBreaker::consecutive(1);
    let running = world.start_with(|builder| builder.circuit_breaker(configured));
    tokio::time::sleep(SECOND).await;
    assert!(running.health.readiness().ok);
    let report = running.stop().await;
    assert_eq!(report.discarded + report.dead_lettered, 8);
}

/// SUB-23: timeouts and panics count, whatever layer they come from.
#[tokio::test(start_paused = true)]
async fn timeouts_and_panics_open_it() {
    for panics in [true, false] {
        let world = World::new().await;
        world.script.next("a", async move |_| {
            assert!(!panics, "a planned panic");
            std::future::pending().await
        });
        world.place_in("1", "a").await;
        let configured = CircuitBreaker::consecutive(1);
        let running =
            world.start_with(|builder| builder.timeout(5 * SECOND).circuit_breaker(configured));
        tokio::time::sleep(6 * SECOND).await;
        let ready = running.health.readiness();
        assert!(ready.reason.contains("circuit breaker"), "{panics} {ready}");
        world.place_in("2", "b").await;
        tokio::time::sleep(20 * SECOND).await;
        assert_eq!(world.broker.messages(ENDPOINT)[0].delivery_count, 0);
        tokio::time::sleep(10 * SECOND).await;
        assert!(running.health.readiness().ok);
        running.stop().await;
        assert_eq!(world.lines(), ["ErrorResponse a", "ResolutionResponse b"]);
    }
}

/// SUB-23: half-open, one message at a time is tried, of one session alone, until so many have
/// succeeded; the rest wait at the broker.
#[tokio::test(start_paused = true)]
async fn a_half_open_circuit_tries_one_message_at_a_time() {
    let world = World::new().await;
    let failing = Dependency::default();
    let layer = failing.layer(outage);
    let configured = CircuitBreaker::consecutive(1).probes(2);
    let running = world.start_with(|builder| {
        builder
            .circuit_breaker(configured.open_for(30 * SECOND))
            .layer(layer)
    });
    // Its session is held from before until a try is under way.
    world.script.next("long", async |_| {
        tokio::time::sleep(35 * SECOND).await;
        Ok(())
    });
    world.place_in("0", "long").await;
    world.place_in("0", "behind").await;
    tokio::time::sleep(SECOND).await;
    failing.0.store(true, Ordering::SeqCst);
    world.place_in("1", "first").await;
    tokio::time::sleep(SECOND).await;
    failing.heal();
    for order in ["a", "b", "c", "d"] {
        world.script.next(order, async |_| {
            tokio::time::sleep(10 * SECOND).await;
            Ok(())
        });
        world.place_in(order, order).await;
    }
    tokio::time::sleep(35 * SECOND).await;
    assert_eq!(world.script.begun(), ["long", "first", "a"]);
    let waiting = world.broker.messages(ENDPOINT);
    let untouched = waiting.iter().filter(|message| message.delivery_count == 0);
    assert_eq!(untouched.count(), 4, "{waiting:?}");
    let ready = running.health.readiness();
    assert!(
        !ready.ok && ready.reason.contains("one message at a time"),
        "{ready}"
    );
    tokio::time::sleep(60 * SECOND).await;
    assert!(running.health.readiness().ok);
    assert_eq!(world.script.done().len(), 7);
    running.stop().await;
    world.assert_idle();
}

/// SUB-23, SUB-30: a message that is tried time and again through a long outage keeps its session and
/// spends no deliveries. A stop or a lost lock ends that like a run.
#[tokio::test(start_paused = true)]
async fn a_message_that_is_tried_spends_no_deliveries() {
    for ends_by in ["success", "stop", "lost lock"] {
        let world = World::new().await;
        let dependency = Dependency::out();
        let layer = dependency.layer(outage);
        world.place("a").await;
        let configured = CircuitBreaker::consecutive(1).open_for(30 * SECOND);
        let running = world.start_with(|builder| builder.circuit_breaker(configured).layer(layer));
        tokio::time::sleep(24 * 60 * 60 * SECOND).await;
        assert_eq!(world.broker.messages(ENDPOINT)[0].delivery_count, 2);
        let before = tokio::time::Instant::now();
        match ends_by {
            "success" => dependency.heal(),
            "stop" => {
                let report = running.stop().await;
                assert_eq!((report.left, report.abandoned), (1, 1));
                assert!(before.elapsed() < SECOND);
                dependency.heal();
                world.run().await;
                assert_eq!(world.lines(), ["ResolutionResponse a"]);
                continue;
            }
            _ => {
                world.broker.expire_lock(ENDPOINT, &session("s"));
                tokio::time::sleep(60 * SECOND).await;
                dependency.heal();
            }
        }
        world.settle().await;
        let report = running.stop().await;
        assert_eq!(report.handled, 1, "{ends_by}");
        assert_eq!(report.left, u64::from(ends_by == "lost lock"));
        assert_eq!(world.lines(), ["ResolutionResponse a"]);
        world.assert_idle();
    }
}

/// SUB-23, SUB-30: a message whose turn to be tried comes while it is in work already, in a lane that
/// was accepted before the circuit opened, keeps other lanes from receiving as well: they would spend
/// deliveries on what can't be tried.
#[tokio::test(start_paused = true)]
async fn a_try_in_a_lane_of_before_costs_others_no_deliveries() {
    for succeeds in [true, false] {
        let world = World::new().await;
        let process = world.process();
        // Its check outlasts the open circuit.
        let slow = nimbus_inbox_testing::Fault::delay(9 * SECOND);
        let checks = nimbus_inbox_testing::When::check().first(1);
        process.store.inject(checks, slow);
        if succeeds {
            world.script.next("a", async |_| {
                tokio::time::sleep(600 * SECOND).await;
                Ok(())
            });
        } else {
            for _ in 0..100 {
                world.script.next("a", async |_| Err(outage()));
            }
        }
        world.place_in("1", "a").await;
        let configured = CircuitBreaker::consecutive(1).open_for(3 * SECOND);
        let running = process.start(process.builder(&world).circuit_breaker(configured));
        tokio::time::sleep(SECOND).await;
        world.script.fail("b", 1);
        world.place_in("2", "b").await;
        tokio::time::sleep(9 * SECOND).await;
        assert_eq!(world.script.begun(), ["b", "a"]);
        world.place_in("3", "c").await;
        tokio::time::sleep(500 * SECOND).await;
        let waiting = world.broker.messages(ENDPOINT);
        let spent: Vec<_> = waiting.iter().map(|m| m.delivery_count).collect();
        assert_eq!(spent, [1, 0], "{succeeds}");
        world.settle().await;
        running.stop().await;
        assert!(world.broker.dead_letters(ENDPOINT).is_empty());
    }
}

/// INB-14, SUB-23: a circuit that opens interrupts neither record nor settlement of what has returned,
/// nor the handlers that still run.
#[tokio::test(start_paused = true)]
async fn an_opening_circuit_interrupts_nothing_that_has_begun() {
    let world = World::new().await;
    let process = world.process();
    // The record of a is under way when b fails, and c still runs.
    let slow = nimbus_inbox_testing::Fault::delay(5 * SECOND);
    let records = nimbus_inbox_testing::When::record().first(1);
    process.store.inject(records, slow);
    world.script.next("b", async |_| {
        tokio::time::sleep(SECOND).await;
        Err(HandlerError::new("no stock"))
    });
    world.script.next("c", async |_| {
        tokio::time::sleep(10 * SECOND).await;
        Ok(())
    });
    for order in ["a", "b", "c"] {
        world.place_in(order, order).await;
    }
    let configured = CircuitBreaker::consecutive(1).open_for(3_600 * SECOND);
    let configured = configured.open_at_most(3_600 * SECOND);
    let running = process.start(process.builder(&world).circuit_breaker(configured));
    tokio::time::sleep(3 * SECOND).await;
    assert!(!running.health.readiness().ok);
    assert_eq!(world.recorded(), [""; 0]);
    tokio::time::sleep(30 * SECOND).await;
    assert_eq!(world.recorded(), ["m-a", "m-c"]);
    assert_eq!(
        world.lines(),
        [
            "ErrorResponse b",
            "ResolutionResponse a",
            "ResolutionResponse c"
        ]
    );
    let report = running.stop().await;
    assert_eq!((report.abandoned, report.left), (0, 0));
    world.assert_idle();
}

/// SUB-23, SUB-29: a stop ends the waiting at once.
#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_waiting_for_a_circuit() {
    let world = World::new().await;
    world.script.fail("a", 1);
    world.place("a").await;
    let configured = CircuitBreaker::consecutive(1).open_for(60 * SECOND);
    let running = world.start_with(|builder| builder.circuit_breaker(configured));
    tokio::time::sleep(SECOND).await;
    // Its session is given back, and the next waited for.
    world.place_in("2", "b").await;
    tokio::time::sleep(10 * SECOND).await;
    let before = tokio::time::Instant::now();
    running.stop().await;
    assert!(before.elapsed() < SECOND);
    assert_eq!(world.broker.messages(ENDPOINT)[0].delivery_count, 0);
}

/// SUB-23, SUB-18: a drain that meets an open circuit is postponed, and its copies keep their order.
#[tokio::test(start_paused = true)]
async fn a_drain_outlasts_an_open_circuit() {
    let world = World::new().await;
    for order in ["a", "b", "c"] {
        world.park(order).await;
    }
    world.request_drain().await;
    let dependency = Dependency::out();
    let layer = dependency.layer(outage);
    let configured = CircuitBreaker::consecutive(1).open_for(30 * SECOND);
    let running = world.start_with(|builder| builder.circuit_breaker(configured).layer(layer));
    tokio::time::sleep(60 * 60 * SECOND).await;
    dependency.heal();
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.done(), ["a", "b", "c"]);
    assert_eq!(world.parked(), []);
    world.assert_idle();
}

/// SUB-23: what can't work is found at build time.
#[tokio::test(start_paused = true)]
async fn a_circuit_breaker_that_can_not_work_is_found_at_build_time() {
    let world = World::new().await;
    let error = world
        .process()
        .builder(&world)
        .circuit_breaker(CircuitBreaker::consecutive(0))
        .circuit_breaker(CircuitBreaker::consecutive(1).probes(0))
        .build(world.broker.connect())
        .unwrap_err();
    let text = error.to_string();
    for problem in ["no failure at all", "at least 1 probe", "set twice"] {
        assert!(text.contains(problem), "{problem}: {text}");
    }
    assert_eq!(error.problems().len(), 3, "{text}");
}
