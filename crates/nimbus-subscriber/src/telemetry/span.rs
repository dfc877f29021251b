use nimbus_inbox_core::EndpointId;
use nimbus_messaging::Headers;
use tracing::field::Empty;
use tracing::{Span, info_span};

use super::{
    ERROR_TYPE, EVENT_ID, EVENT_TYPE, MESSAGE_TYPE, MESSAGING_CONVERSATION_ID,
    MESSAGING_DESTINATION_NAME, MESSAGING_MESSAGE_ID, MESSAGING_OPERATION_NAME,
    MESSAGING_OPERATION_TYPE, MESSAGING_SYSTEM, OTEL_KIND, OTEL_NAME, OTEL_STATUS_CODE, SESSION_ID,
    SPAN_PROCESS, SYSTEM,
};

/// Makes the spans around messages.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Spans {
    #[cfg(feature = "opentelemetry")]
    pub(crate) inbound: super::InboundTrace,
}

impl Spans {
    /// The span around the processing of one message, tied to the span it was sent from.
    pub(crate) fn process(self, endpoint: &EndpointId, headers: &Headers) -> Span {
        let span = info_span!(
            SPAN_PROCESS,
            { OTEL_NAME } = format_args!("{SPAN_PROCESS} {endpoint}"),
            { OTEL_KIND } = "consumer",
            { OTEL_STATUS_CODE } = Empty,
            { MESSAGING_SYSTEM } = SYSTEM,
            { MESSAGING_OPERATION_NAME } = SPAN_PROCESS,
            { MESSAGING_OPERATION_TYPE } = SPAN_PROCESS,
            { MESSAGING_DESTINATION_NAME } = endpoint.as_str(),
            { MESSAGING_MESSAGE_ID } = headers.message_id.as_deref(),
            { MESSAGING_CONVERSATION_ID } = headers.correlation_id.as_deref(),
            { MESSAGE_TYPE } = headers.message_type.as_str(),
            { EVENT_ID } = headers.event_id.as_ref().map(|id| id.as_str()),
            { EVENT_TYPE } = headers.event_type_id.as_deref(),
            { SESSION_ID } = headers.session_id.as_deref(),
            { ERROR_TYPE } = Empty,
        );
        #[cfg(feature = "opentelemetry")]
        self.inbound.tie(&span, &headers.trace);
        span
    }
}

/// Marks the span around the message as failed.
pub(crate) fn failed(error_type: &str) {
    let span = Span::current();
    span.record(ERROR_TYPE, error_type);
    span.record(OTEL_STATUS_CODE, "ERROR");
}
