use nimbus_messaging::TraceContext;
use opentelemetry::Context;
use opentelemetry::trace::TraceContextExt;
use serde::Deserialize;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

use super::w3c;

/// How the span around a message relates to the span that the message was sent from (SUB-25).
///
/// A trace context that can't be read ties it to nothing and fails no message.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum InboundTrace {
    /// It is linked to it, in a trace of its own: what the messaging conventions recommend, since a
    /// message may be handled much later, more than once, or with others.
    #[default]
    Link,
    /// It is linked to it, and its child: sender and handler are one trace.
    Parent,
}

impl InboundTrace {
    pub(super) fn tie(self, span: &Span, inbound: &TraceContext) {
        let Some(sender) = w3c::read(inbound) else {
            return;
        };
        if self == Self::Parent {
            let parent = Context::new().with_remote_span_context(sender.clone());
            // It fails where nothing exports spans, and then there is nothing to tie.
            let _ = span.set_parent(parent);
        }
        span.add_link(sender);
    }
}
