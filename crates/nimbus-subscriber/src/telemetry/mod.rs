//! The names in the spans of the subscriber, and the way of trace context through it (SUB-25).
//!
//! One span lies around the processing of each message: a delivery, or a parked or deferred message
//! that is handled in its turn. Spans of the inbox and of handlers are its children. With the feature
//! `opentelemetry` it is linked to the span that the message was sent from, and the messages sent
//! meanwhile carry its own context.

mod context;
#[cfg(feature = "opentelemetry")]
mod inbound;
mod span;
#[cfg(feature = "opentelemetry")]
mod w3c;

pub(crate) use context::outgoing;
#[cfg(feature = "opentelemetry")]
pub use inbound::InboundTrace;
pub(crate) use span::{Spans, failed};

/// Span around the processing of one message. To OpenTelemetry it is named `process` and the
/// endpoint.
pub const SPAN_PROCESS: &str = "process";

/// Span attribute of the messaging conventions: always `nimbus`.
pub const MESSAGING_SYSTEM: &str = "messaging.system";
/// Span attribute of the messaging conventions: always `process`.
pub const MESSAGING_OPERATION_NAME: &str = "messaging.operation.name";
/// Span attribute of the messaging conventions: always `process`.
pub const MESSAGING_OPERATION_TYPE: &str = "messaging.operation.type";
/// Span attribute of the messaging conventions: the endpoint.
pub const MESSAGING_DESTINATION_NAME: &str = "messaging.destination.name";
/// Span attribute of the messaging conventions: the message's own id.
pub const MESSAGING_MESSAGE_ID: &str = "messaging.message.id";
/// Span attribute of the messaging conventions: the correlation id.
pub const MESSAGING_CONVERSATION_ID: &str = "messaging.message.conversation_id";
/// Span attribute of the general conventions: the kind of a handler's error, or what stopped the
/// processing. Absent where nothing failed.
pub const ERROR_TYPE: &str = "error.type";
/// Span attribute: the message type of NimBus.
pub const MESSAGE_TYPE: &str = "nimbus.message_type";
/// Span attribute: the event id.
pub const EVENT_ID: &str = "nimbus.event_id";
/// Span attribute: the event type id.
pub const EVENT_TYPE: &str = "nimbus.event_type";
/// Span attribute: the session.
pub const SESSION_ID: &str = "nimbus.session_id";
/// Value of [`MESSAGING_SYSTEM`].
pub const SYSTEM: &str = "nimbus";
/// Field that tells OpenTelemetry the kind of a span.
pub const OTEL_KIND: &str = "otel.kind";
/// Field that tells OpenTelemetry the name of a span.
pub const OTEL_NAME: &str = "otel.name";
/// Field that tells OpenTelemetry that what a span is around has failed.
pub const OTEL_STATUS_CODE: &str = "otel.status_code";
