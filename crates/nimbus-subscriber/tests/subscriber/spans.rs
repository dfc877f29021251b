//! Trace context from messages into spans, and from spans into messages.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use nimbus_inbox_testing::BrokerOptions;
use nimbus_messaging::{Address, EventRequest, Headers, MessageType};
use nimbus_subscriber::telemetry::{self, InboundTrace};
use nimbus_subscriber::{HandlerError, RetryPolicy};
use opentelemetry::trace::{SpanId, SpanKind, Status, TraceId};
use tracing::Instrument;

use crate::support::{
    ENDPOINT, EVENT_TYPE, Traces, World, attribute, continuation, defer, request, sent_from,
};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const SENDER: &str = "b7ad6b7169203331";

/// The event `order` in session `s`, sent from the span [`SENDER`].
fn traced(order: &str) -> EventRequest {
    World::event(order)
        .with_session("s")
        .with_headers(|headers| {
            headers.correlation_id = Some("c-1".to_owned());
            headers.trace.parent = Some(format!("00-{TRACE}-{SENDER}-01"));
            headers.trace.state = Some("vendor=1".to_owned());
        })
}

fn sender() -> (TraceId, SpanId) {
    let trace = TraceId::from_hex(TRACE).unwrap();
    (trace, SpanId::from_hex(SENDER).unwrap())
}

fn links(span: &opentelemetry_sdk::trace::SpanData) -> Vec<(TraceId, SpanId)> {
    let linked = span.links.iter().map(|link| &link.span_context);
    linked.map(|to| (to.trace_id(), to.span_id())).collect()
}

fn identity(span: &opentelemetry_sdk::trace::SpanData) -> (TraceId, SpanId) {
    (span.span_context.trace_id(), span.span_context.span_id())
}

/// SUB-25: the process span is linked to the span that the message was sent from, in a trace of its
/// own; it has kind, name and attributes of the messaging conventions.
#[tokio::test(start_paused = true)]
async fn a_message_is_linked_to_its_sender() {
    let traces = Traces::capture();
    let world = World::new().await;
    world.publish(traced("a").to(ENDPOINT)).await;
    world.run().await;
    let span = traces.of("m-a");
    assert_eq!(links(&span), [sender()]);
    assert_ne!(span.span_context.trace_id(), sender().0);
    assert_eq!(span.parent_span_id, SpanId::INVALID);
    assert_eq!(span.span_kind, SpanKind::Consumer);
    assert_eq!(span.status, Status::Unset);
    for (name, value) in [
        (telemetry::MESSAGING_SYSTEM, Some("nimbus")),
        (telemetry::MESSAGING_OPERATION_NAME, Some("process")),
        (telemetry::MESSAGING_OPERATION_TYPE, Some("process")),
        (telemetry::MESSAGING_DESTINATION_NAME, Some(ENDPOINT)),
        (telemetry::MESSAGING_MESSAGE_ID, Some("m-a")),
        (telemetry::MESSAGING_CONVERSATION_ID, Some("c-1")),
        (telemetry::MESSAGE_TYPE, Some("EventRequest")),
        (telemetry::EVENT_ID, Some("a")),
        (telemetry::EVENT_TYPE, Some(EVENT_TYPE)),
        (telemetry::SESSION_ID, Some("s")),
        (telemetry::ERROR_TYPE, None),
    ] {
        assert_eq!(attribute(&span, name).as_deref(), value, "{name}");
    }
}

/// SUB-25: by option the process span is also the child of the span that the message was sent from;
/// outcome and vendor state stay in that trace, so that the resolver sees it.
#[tokio::test(start_paused = true)]
async fn by_option_a_message_is_its_senders_child() {
    let traces = Traces::capture();
    let world = World::new().await;
    world.publish(traced("a").to(ENDPOINT)).await;
    world
        .run_with(|builder| builder.inbound_trace(InboundTrace::Parent))
        .await;
    let span = traces.of("m-a");
    assert_eq!(span.span_context.trace_id(), sender().0);
    assert_eq!(span.parent_span_id, sender().1);
    assert_eq!(links(&span), [sender()]);
    let outcome = world.broker.envelopes(Address::RESOLVER).remove(0);
    assert_eq!(sent_from(&outcome), identity(&span));
    let state = Headers::read(&outcome).unwrap().trace.state;
    assert_eq!(state.as_deref(), Some("vendor=1"));
}

/// SUB-25: spans that the handler makes are children of the process span, as those of the inbox are,
/// and the context that the handler is given is that of the span it asks in.
#[tokio::test(start_paused = true)]
async fn spans_of_the_handler_are_children() {
    let traces = Traces::capture();
    let world = World::new().await;
    let seen = Arc::new(Mutex::new(Vec::new()));
    let in_handler = Arc::clone(&seen);
    world.script.next("a", async move |context| {
        let mut given = vec![context.trace_context().parent.unwrap()];
        let within = async { context.trace_context().parent.unwrap() };
        given.push(within.instrument(tracing::info_span!("charge")).await);
        *in_handler.lock().unwrap() = given;
        Ok(())
    });
    world.publish(traced("a").to(ENDPOINT)).await;
    world.run().await;
    let (process, charge) = (traces.of("m-a"), traces.named("charge").remove(0));
    assert_eq!(charge.parent_span_id, process.span_context.span_id());
    for inner in ["nimbus.inbox.check", "nimbus.inbox.record"] {
        let inner = traces.named(inner).remove(0);
        assert_eq!(inner.parent_span_id, process.span_context.span_id());
    }
    let seen = seen.lock().unwrap();
    for (given, span) in seen.iter().zip([&process, &charge]) {
        let (trace, span) = identity(span);
        assert_eq!(*given, format!("00-{trace}-{span}-01"));
    }
    assert_eq!(seen.len(), 2);
}

/// SUB-25: each message sent while another is processed carries the context of its process span:
/// every outcome, the retry, the drain request, and what a handler publishes. A parked copy is the
/// message itself: its processing is linked to whoever sent that.
#[tokio::test(start_paused = true)]
async fn every_outgoing_message_carries_the_process_span() {
    let traces = Traces::capture();
    let world = World::new().await;
    world.broker.declare("Shop");
    world.script.fail("a", 1);
    world.script.next("b", async |context| {
        context.publish("Shop", "Billed", &1, "billed-b").await?;
        Ok(())
    });
    for order in ["a", "b"] {
        world.publish(traced(order).to(ENDPOINT)).await;
    }
    let policy = RetryPolicy::fixed(Duration::from_secs(5));
    world.run_with(|builder| builder.retry(policy)).await;
    assert_eq!(
        world.lines(),
        [
            "ErrorResponse a",
            "DeferralResponse b",
            "ResolutionResponse a",
            "ResolutionResponse b"
        ]
    );

    let outcomes = world.broker.envelopes(Address::RESOLVER);
    for outcome in &outcomes {
        let about = Headers::read(outcome).unwrap().parent_message_id.unwrap();
        assert_eq!(sent_from(outcome), identity(&traces.of(&about)), "{about}");
    }
    let of_type = |message_type: MessageType| {
        let mut spans = traces.processed();
        spans.retain(|span| {
            let found = attribute(span, telemetry::MESSAGE_TYPE);
            found.as_deref() == Some(message_type.as_str())
        });
        assert_eq!(spans.len(), 1, "{message_type}");
        spans.remove(0)
    };
    let retry = of_type(MessageType::RetryRequest);
    assert_eq!(links(&retry), [identity(&traces.of("m-a"))]);
    let drain = of_type(MessageType::ProcessDeferredRequest);
    assert_eq!(links(&drain), [identity(&retry)]);

    let copy = Headers::read(&outcomes[3]).unwrap().parent_message_id;
    let copy = traces.of(&copy.unwrap());
    assert_eq!(links(&copy), [sender()]);
    assert_eq!(copy.parent_span_id, drain.span_context.span_id());
    let published = world.broker.envelopes("Shop").remove(0);
    assert_eq!(sent_from(&published), identity(&copy));
}

/// SUB-25, SUB-17: a message that an older version deferred has a process span of its own.
#[tokio::test(start_paused = true)]
async fn a_deferred_message_is_linked_to_its_sender() {
    let traces = Traces::capture();
    let world = World::with(BrokerOptions::default()).await;
    defer(&world, vec![traced("a").to(ENDPOINT)]).await;
    request(&world, continuation()).await;
    world.run().await;
    let span = traces.of("m-a");
    assert_eq!(links(&span), [sender()]);
    assert_eq!(
        span.parent_span_id,
        traces.of("continue").span_context.span_id()
    );
    let outcome = world.broker.envelopes(Address::RESOLVER).remove(0);
    assert_eq!(sent_from(&outcome), identity(&span));
}

/// SUB-25: a drain that is postponed carries the context of the one that met the outage.
#[tokio::test(start_paused = true)]
async fn a_postponed_drain_is_linked_to_the_one_before() {
    let traces = Traces::capture();
    let world = World::new().await;
    world.park("a").await;
    world
        .script
        .next("a", async |_| Err(HandlerError::transient("closed")));
    world.request_drain().await;
    world.run().await;
    assert_eq!(world.script.done(), ["a"]);
    let mut drains = traces.processed();
    drains.retain(|span| {
        attribute(span, telemetry::MESSAGE_TYPE).as_deref() == Some("ProcessDeferredRequest")
    });
    assert_eq!(drains.len(), 2);
    assert_eq!(links(&drains[1]), [identity(&drains[0])]);
}

/// SUB-25: a context that is none ties the message to nothing, and fails it for nothing.
#[tokio::test(start_paused = true)]
async fn a_malformed_context_is_ignored() {
    for relation in [InboundTrace::Link, InboundTrace::Parent] {
        for parent in ["", "00-trace", "00-0-0-0", "ff-é-\u{0}-\n", TRACE] {
            let traces = Traces::capture();
            let world = World::new().await;
            let event = traced("a").with_headers(|headers| {
                headers.trace.parent = Some(parent.to_owned());
                headers.trace.state = Some("=,=".to_owned());
            });
            world.publish(event.to(ENDPOINT)).await;
            world
                .run_with(|builder| builder.inbound_trace(relation))
                .await;
            let span = traces.of("m-a");
            assert_eq!(links(&span), []);
            assert_eq!(span.parent_span_id, SpanId::INVALID);
            let outcome = world.broker.envelopes(Address::RESOLVER).remove(0);
            assert_eq!(sent_from(&outcome), identity(&span));
            assert_eq!(world.lines(), ["ResolutionResponse a"]);
            world.assert_idle();
        }
    }
}

/// SUB-25: a span says that its handler failed, or that its message was refused, and how.
#[tokio::test(start_paused = true)]
async fn a_failed_attempt_shows_in_its_span() {
    let traces = Traces::capture();
    let world = World::new().await;
    world.script.next("a", async |_| {
        Err(HandlerError::new("no stock").with_type("OutOfStock"))
    });
    world.publish(traced("a").to(ENDPOINT)).await;
    let mut unreadable = World::event("b").to(ENDPOINT);
    unreadable.body = b"{".to_vec().into();
    world.publish(unreadable).await;
    world.run().await;
    for (message, error_type) in [("m-a", "OutOfStock"), ("m-b", "MalformedMessage")] {
        let span = traces.of(message);
        let found = attribute(&span, telemetry::ERROR_TYPE);
        assert_eq!(found.as_deref(), Some(error_type));
        assert!(
            matches!(span.status, Status::Error { .. }),
            "{:?}",
            span.status
        );
    }
}
