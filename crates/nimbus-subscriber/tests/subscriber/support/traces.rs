use nimbus_messaging::{Envelope, Headers};
use nimbus_subscriber::telemetry;
use opentelemetry::trace::{SpanId, TraceId, TracerProvider};
use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use tracing::subscriber::DefaultGuard;
use tracing_subscriber::layer::SubscriberExt;

/// The spans that the test's own thread exports.
pub(crate) struct Traces {
    exporter: InMemorySpanExporter,
    _provider: SdkTracerProvider,
    _guard: DefaultGuard,
}

impl Traces {
    pub(crate) fn capture() -> Self {
        let exporter = InMemorySpanExporter::default();
        let provider = SdkTracerProvider::builder()
            .with_simple_exporter(exporter.clone())
            .build();
        let layer = tracing_opentelemetry::layer().with_tracer(provider.tracer("test"));
        let subscriber = tracing_subscriber::registry().with(layer);
        Self {
            exporter,
            _provider: provider,
            _guard: tracing::subscriber::set_default(subscriber),
        }
    }

    /// The spans of this name, in the order in which they ended.
    pub(crate) fn named(&self, name: &str) -> Vec<SpanData> {
        let spans = self.exporter.get_finished_spans().unwrap();
        spans.into_iter().filter(|span| span.name == name).collect()
    }

    /// The spans around the processing of messages, in the order in which they ended.
    pub(crate) fn processed(&self) -> Vec<SpanData> {
        self.named("process BillingEndpoint")
    }

    /// The one span around the processing of the message with this id.
    pub(crate) fn of(&self, message_id: &str) -> SpanData {
        let mut spans = self.processed();
        spans.retain(|span| {
            attribute(span, telemetry::MESSAGING_MESSAGE_ID).as_deref() == Some(message_id)
        });
        assert_eq!(spans.len(), 1, "{message_id}: {:?}", self.processed());
        spans.remove(0)
    }
}

pub(crate) fn attribute(span: &SpanData, name: &str) -> Option<String> {
    let mut found = span
        .attributes
        .iter()
        .filter(|attribute| attribute.key.as_str() == name);
    let value = found.next().map(|found| found.value.to_string());
    assert!(found.next().is_none(), "{name} is there twice");
    value
}

/// The trace and the span that a message was sent from.
pub(crate) fn sent_from(envelope: &Envelope) -> (TraceId, SpanId) {
    let parent = Headers::read(envelope).unwrap().trace.parent.unwrap();
    let parts: Vec<_> = parent.split('-').collect();
    (
        TraceId::from_hex(parts[1]).unwrap(),
        SpanId::from_hex(parts[2]).unwrap(),
    )
}
