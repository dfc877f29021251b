use nimbus_messaging::TraceContext;

/// The trace context of a message that is sent now, on behalf of one that came with `inbound`.
///
/// It is that of the current span. Where there is none, since the feature is off or nothing exports
/// spans, what came goes on as it is.
pub(crate) fn outgoing(inbound: &TraceContext) -> TraceContext {
    #[cfg(feature = "opentelemetry")]
    if let Some(current) = super::w3c::current() {
        return current;
    }
    inbound.clone()
}
