//! What goes around the run of a handler, and what it can and can't change.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use nimbus_messaging::{EventRequest, MessageType};
use nimbus_subscriber::{
    HandlerContext, HandlerError, HandlerRequest, HandlerService, Handoff, RetryPolicy, Subscriber,
};
use tokio_util::sync::CancellationToken;
use tower::layer::layer_fn;
use tower::{Service, ServiceBuilder, ServiceExt};

use crate::support::{ENDPOINT, EVENT_TYPE, Journal, OrderPlaced, World, around};

/// The event `order` under another event type.
fn of_type(event_type: &str, order: &str) -> EventRequest {
    World::event(order).with_headers(|headers| headers.event_type_id = Some(event_type.to_owned()))
}

/// SUB-23, INB-06: layers run after the inbox was asked and before the record; the first added is the
/// outermost, and those of one event type are inside those of all.
#[tokio::test(start_paused = true)]
async fn layers_go_around_the_handler_the_first_added_outermost() {
    let world = World::new().await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    let note = |name: &'static str| {
        let journal = journal.clone();
        around(move |request, inner: HandlerService| {
            let journal = journal.clone();
            async move {
                journal.note(&format!("{name} begins"));
                let ended = inner.oneshot(request).await;
                journal.note(&format!("{name} ends"));
                ended
            }
        })
    };
    let handling = journal.clone();
    world.script.next("a", async move |_| {
        handling.note("handler");
        Ok(())
    });
    world.place("a").await;
    let builder = process
        .builder(&world)
        .layer_event(EVENT_TYPE, note("of the type"))
        .layer(note("first"))
        .layer(note("second"));
    let running = process.start(builder);
    world.settle().await;
    running.stop().await;
    assert_eq!(
        journal.since("check"),
        [
            "check",
            "fence",
            "first begins",
            "second begins",
            "of the type begins",
            "handler",
            "of the type ends",
            "second ends",
            "first ends",
            "record",
            "send ResolutionResponse",
            "complete"
        ]
    );
}

/// SUB-23: middleware sees each attempt once, a retry and a replayed copy included, with the event as
/// it came and what the handler knows of its message; and never a duplicate, a message that is parked,
/// or an event that has no handler.
#[tokio::test(start_paused = true)]
async fn middleware_sees_each_attempt_once_and_nothing_else() {
    let world = World::new().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let look = around(move |request: HandlerRequest, inner: HandlerService| {
        assert_eq!(request.event_type(), EVENT_TYPE);
        let id = request.context().message_id().unwrap_or_default();
        let retries = request.context().retry_count();
        let line = format!("{id} {retries} {}", request.event_json());
        noted.lock().unwrap().push(line);
        inner.oneshot(request)
    });
    world.script.fail("a", 1);
    world.place("a").await;
    world.place("b").await;
    world.record("m-c").await;
    world.place_in("other", "c").await;
    world.publish(of_type("Nobody's", "d").to(ENDPOINT)).await;
    let policy = RetryPolicy::fixed(Duration::from_secs(5));
    world
        .run_with(|builder| builder.retry(policy).layer(look))
        .await;
    assert_eq!(world.told_of("c")[0].line(), "SkipResponse c");
    assert_eq!(world.told_of("d")[0].line(), "UnsupportedResponse d");
    assert_eq!(
        *seen.lock().unwrap(),
        [
            r#"m-a 0 {"order":"a"}"#,
            r#"m-a 1 {"order":"a"}"#,
            r#"m-b 0 {"order":"b"}"#
        ]
    );
    world.assert_idle();
}

/// SUB-23: a stack of tower's own layers works as it is. A concurrency limit makes messages of other
/// sessions and types wait for it, in order to run one at a time.
#[tokio::test(start_paused = true)]
async fn towers_own_layers_work_and_a_limit_counts_for_all_types() {
    let world = World::new().await;
    let (running, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (now, highest) = (Arc::clone(&running), Arc::clone(&most));
    let handler = move |_: OrderPlaced, _: HandlerContext| {
        let (now, highest) = (Arc::clone(&now), Arc::clone(&highest));
        async move {
            highest.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            tokio::time::sleep(Duration::from_secs(1)).await;
            now.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        }
    };
    for number in 0..4 {
        let order = format!("order-{number}");
        for event_type in ["One", "Two"] {
            let order = format!("{order}-{event_type}");
            let message = of_type(event_type, &order).with_session(&order);
            world.publish(message.to(ENDPOINT)).await;
        }
    }
    let stack = ServiceBuilder::new()
        .buffer::<HandlerRequest>(16)
        .timeout(Duration::from_secs(60))
        .concurrency_limit(1);
    let subscriber = Subscriber::builder(ENDPOINT)
        .clock(world.clock)
        .handle("One", handler.clone())
        .handle("Two", handler)
        .layer(stack)
        .build(world.broker.connect())
        .unwrap();
    let report = subscriber
        .run(tokio::time::sleep(Duration::from_secs(60)))
        .await
        .unwrap();
    assert_eq!(report.handled, 8);
    assert_eq!(most.load(Ordering::SeqCst), 1);
    world.assert_idle();
}

/// SUB-23, SUB-21: a handler's own error comes through layers that know only boxed errors as it is;
/// a layer's own error is a failure like any other.
#[tokio::test(start_paused = true)]
async fn errors_come_through_boxed() {
    let world = World::new().await;
    world.script.next("a", async |_| {
        Err(HandlerError::discard("no such customer").with_type("Customers"))
    });
    world.script.next("b", async |_| {
        tokio::time::sleep(Duration::from_secs(60)).await;
        Ok(())
    });
    world.place_in("1", "a").await;
    world.place_in("2", "b").await;
    let stack = ServiceBuilder::new().timeout(Duration::from_secs(5));
    world.run_with(|builder| builder.layer(stack)).await;
    assert_eq!(
        world.told_of("a")[0].error_text(),
        Some("Customers: no such customer Classified as Discard by the handler.")
    );
    let timed_out = &world.told_of("b")[0];
    assert_eq!(timed_out.headers.message_type, MessageType::ErrorResponse);
    assert_eq!(timed_out.error_text(), Some("request timed out"));
    assert_eq!(world.recorded(), [""; 0]);
}

/// Where a service goes wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wrong {
    PanicsWhenPolled,
    PanicsWhenCalled,
    PanicsInItsFuture,
    FailsToBeReady,
}

#[derive(Clone)]
struct Broken(Wrong, Arc<AtomicUsize>, HandlerService);

impl Service<HandlerRequest> for Broken {
    type Response = ();
    type Error = std::io::Error;
    type Future = BoxFuture<'static, Result<(), std::io::Error>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), std::io::Error>> {
        let first = self.1.fetch_add(1, Ordering::SeqCst) == 0;
        match self.0 {
            Wrong::PanicsWhenPolled if first => panic!("a planned panic"),
            Wrong::FailsToBeReady if first => {
                Poll::Ready(Err(std::io::Error::other("a planned failure")))
            }
            _ => Poll::Ready(Ok(())),
        }
    }

    fn call(&mut self, request: HandlerRequest) -> Self::Future {
        let (wrong, first) = (self.0, self.1.load(Ordering::SeqCst) == 1);
        assert!(
            !(first && wrong == Wrong::PanicsWhenCalled),
            "a planned panic"
        );
        let inner = self.2.clone();
        Box::pin(async move {
            assert!(
                !(first && wrong == Wrong::PanicsInItsFuture),
                "a planned panic"
            );
            inner
                .oneshot(request)
                .await
                .map_err(|error| std::io::Error::other(error.to_string()))
        })
    }
}

/// SUB-23, INB-12: a panic or a failure anywhere in middleware is a failure of that message: reported,
/// not recorded, retried.
#[tokio::test(start_paused = true)]
async fn a_panic_in_middleware_is_a_failure_of_that_message() {
    for wrong in [
        Wrong::PanicsWhenPolled,
        Wrong::PanicsWhenCalled,
        Wrong::PanicsInItsFuture,
        Wrong::FailsToBeReady,
    ] {
        let world = World::new().await;
        world.place("a").await;
        let layer = layer_fn(move |inner| Broken(wrong, Arc::default(), inner));
        let policy = RetryPolicy::fixed(Duration::from_secs(5));
        let report = world
            .run_with(|builder| builder.retry(policy).layer(layer))
            .await;
        assert_eq!(
            world.lines(),
            ["ErrorResponse a", "ResolutionResponse a"],
            "{wrong:?}"
        );
        let expected = match wrong {
            Wrong::FailsToBeReady => ("std::io::error::Error", "a planned failure"),
            _ => ("panic", "a planned panic"),
        };
        let told = &world.told()[0];
        assert_eq!(
            (told.error_type(), told.error_text()),
            (Some(expected.0), Some(expected.1)),
            "{wrong:?}"
        );
        assert_eq!((report.failed, report.handled), (1, 1), "{wrong:?}");
        assert_eq!(world.script.begun(), ["a"], "{wrong:?}");
        world.assert_idle();
    }
}

/// SUB-23, SUB-14: what the outermost layer returns counts: a layer that turns a failure into success
/// has succeeded, and what the failed handler had handed off is forgotten.
#[tokio::test(start_paused = true)]
async fn what_the_outermost_layer_returns_counts() {
    for of_the_type in [false, true] {
        let world = World::new().await;
        world.script.next("a", async |context| {
            context.mark_pending_handoff(Handoff::default());
            Err(HandlerError::new("no stock"))
        });
        world.place("a").await;
        let forgiving = around(|request, inner: HandlerService| async move {
            let _ = inner.oneshot(request).await;
            Ok(())
        });
        world
            .run_with(|builder| match of_the_type {
                true => builder.layer_event(EVENT_TYPE, forgiving),
                false => builder.layer(forgiving),
            })
            .await;
        assert_eq!(world.lines(), ["ResolutionResponse a"]);
        assert_eq!(world.recorded(), ["m-a"]);
        assert!(!world.state().is_blocked());
        world.assert_idle();
    }
}

/// SUB-23, SUB-14: the same where the handler did not return: it panicked, or a timeout dropped it.
#[tokio::test(start_paused = true)]
async fn what_a_dropped_handler_had_handed_off_is_forgotten() {
    for (panics, of_the_type) in [(true, true), (true, false), (false, true), (false, false)] {
        let world = World::new().await;
        world.script.next("a", async move |context| {
            context.mark_pending_handoff(Handoff::default());
            assert!(!panics, "a planned panic");
            std::future::pending().await
        });
        world.place("a").await;
        let forgiving = around(|request, inner: HandlerService| async move {
            let limited = tokio::time::timeout(Duration::from_secs(1), inner.oneshot(request));
            let _ = std::panic::AssertUnwindSafe(limited).catch_unwind().await;
            Ok(())
        });
        let running = world.start_with(|builder| match of_the_type {
            true => builder.layer_event(EVENT_TYPE, forgiving),
            false => builder.layer(forgiving),
        });
        world.settle().await;
        running.stop().await;
        assert_eq!(
            world.lines(),
            ["ResolutionResponse a"],
            "{panics} {of_the_type}"
        );
        assert_eq!(world.recorded(), ["m-a"]);
        world.assert_idle();
    }
}

/// SUB-23, SUB-14: a handoff comes through the layers.
#[tokio::test(start_paused = true)]
async fn a_handoff_comes_through_the_layers() {
    let world = World::new().await;
    world.script.next("a", async |context| {
        context.mark_pending_handoff(Handoff::default());
        Ok(())
    });
    world.place("a").await;
    let through = around(|request, inner: HandlerService| inner.oneshot(request));
    world.run_with(|builder| builder.layer(through)).await;
    assert_eq!(world.lines(), ["PendingHandoffResponse a"]);
    assert!(world.state().blocked_by_handoff);
    assert_eq!(world.recorded(), [""; 0]);
}

/// INB-14, SUB-23: past the drain deadline middleware is dropped like a handler, also while it waits to
/// be ready or after its handler returned: nothing is recorded or reported, and the message comes again.
/// One that has returned `Ok` has succeeded, however the stop went.
#[tokio::test(start_paused = true)]
async fn middleware_is_cancelled_like_its_handler() {
    for (waits, succeeds) in [
        ("to be ready", false),
        ("after the handler", false),
        ("not", true),
    ] {
        let world = World::new().await;
        world.place("a").await;
        let hold = CancellationToken::new();
        let process = world.process();
        let builder = process
            .builder(&world)
            .drain_deadline(Duration::from_secs(5));
        let held = hold.clone();
        let builder = match waits {
            "to be ready" => builder.layer(layer_fn(NeverReady)),
            _ => builder.layer(around(move |request, inner: HandlerService| {
                let held = held.clone();
                async move {
                    inner.oneshot(request).await?;
                    held.cancelled().await;
                    Ok(())
                }
            })),
        };
        let running = process.start(builder);
        tokio::time::sleep(Duration::from_secs(1)).await;
        running.stop.cancel();
        tokio::time::sleep(Duration::from_secs(1)).await;
        if succeeds {
            hold.cancel();
        }
        let report = running.task.await.unwrap().unwrap();
        let (recorded, left): (&[&str], _) = match succeeds {
            true => (&["m-a"], 0),
            false => (&[], 1),
        };
        assert_eq!(world.recorded(), recorded, "{waits}");
        assert_eq!((report.left, report.failed), (left, 0), "{waits}");
        assert_eq!(world.lines().len(), recorded.len(), "{waits}");
        world.run().await;
        assert_eq!(world.lines(), ["ResolutionResponse a"], "{waits}");
        world.assert_idle();
    }
}

#[derive(Clone)]
struct NeverReady(HandlerService);

impl Service<HandlerRequest> for NeverReady {
    type Response = ();
    type Error = HandlerError;
    type Future = BoxFuture<'static, Result<(), HandlerError>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), HandlerError>> {
        Poll::Pending
    }

    fn call(&mut self, request: HandlerRequest) -> Self::Future {
        self.0.clone().oneshot(request).boxed()
    }
}

/// SUB-03, SUB-23: an event that its handler can't read is dead-lettered with that reason inside layers
/// too.
#[tokio::test(start_paused = true)]
async fn an_unreadable_event_keeps_its_reason_inside_layers() {
    for of_the_type in [false, true] {
        let world = World::new().await;
        let event = EventRequest::new(EVENT_TYPE, &serde_json::json!({ "order": 5 })).unwrap();
        let message = event.with_message_id("m-a").with_event_id("a");
        world.publish(message.to(ENDPOINT)).await;
        let stack = ServiceBuilder::new().timeout(Duration::from_secs(5));
        world
            .run_with(|builder| match of_the_type {
                true => builder.layer_event(EVENT_TYPE, stack),
                false => builder.layer(stack),
            })
            .await;
        let told = world.told();
        assert_eq!(
            told[0].headers.dead_letter_reason.as_deref(),
            Some("UnreadableEvent")
        );
        assert_eq!(world.broker.dead_letters(ENDPOINT).len(), 1);
    }
}

/// SUB-23: layers for events that no handler takes, and no time for handlers, are found at build time.
#[tokio::test(start_paused = true)]
async fn pointless_layers_are_found_at_build_time() {
    let world = World::new().await;
    let process = world.process();
    let error = process
        .builder(&world)
        .layer_event("Misspelt", tower::layer::util::Identity::new())
        .retry_event("Mispelled", RetryPolicy::fixed(Duration::from_secs(1)))
        .timeout(Duration::ZERO)
        .build(world.broker.connect())
        .unwrap_err();
    let text = error.to_string();
    assert!(text.contains("\"Misspelt\", and no handler"), "{text}");
    assert!(text.contains("\"Mispelled\", and no handler"), "{text}");
    assert!(text.contains("no time at all"), "{text}");
    assert_eq!(error.problems().len(), 3, "{text}");
}
