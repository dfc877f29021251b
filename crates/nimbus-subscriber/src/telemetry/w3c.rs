//! Trace context as the W3C writes it, <https://www.w3.org/TR/trace-context/>.

use nimbus_messaging::TraceContext;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// The context of the current span, if one is exported.
pub(super) fn current() -> Option<TraceContext> {
    let context = Span::current().context();
    let span = context.span();
    let span = span.span_context();
    span.is_valid().then(|| write(span))
}

/// The span that a message was sent from; none if its `traceparent` is not one.
///
/// A `tracestate` that is none is left out, as the W3C says.
pub(super) fn read(context: &TraceContext) -> Option<SpanContext> {
    let mut parts = context.parent.as_deref()?.trim().split('-');
    let version = hexadecimal(parts.next()?, 2)?;
    let trace_id = hexadecimal(parts.next()?, 32)?;
    let span_id = hexadecimal(parts.next()?, 16)?;
    let flags = hexadecimal(parts.next()?, 2)?;
    // Later versions may add parts; version ff is forbidden.
    if version == "ff" || (version == "00" && parts.next().is_some()) {
        return None;
    }
    let state = context
        .state
        .as_deref()
        .and_then(|state| state.parse().ok());
    let read = SpanContext::new(
        TraceId::from_hex(trace_id).ok()?,
        SpanId::from_hex(span_id).ok()?,
        TraceFlags::new(u8::from_str_radix(flags, 16).ok()?) & TraceFlags::SAMPLED,
        true,
        state.unwrap_or(TraceState::NONE),
    );
    read.is_valid().then_some(read)
}

fn write(span: &SpanContext) -> TraceContext {
    let state = span.trace_state().header();
    TraceContext {
        parent: Some(format!(
            "00-{}-{}-{:02x}",
            span.trace_id(),
            span.span_id(),
            span.trace_flags() & TraceFlags::SAMPLED
        )),
        state: (!state.is_empty()).then_some(state),
    }
}

/// The text, if it is this many lower-case hexadecimal digits.
fn hexadecimal(text: &str, digits: usize) -> Option<&str> {
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    (text.len() == digits && text.bytes().all(is_digit)).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
    const SPAN: &str = "00f067aa0ba902b7";

    fn of(parent: &str) -> TraceContext {
        TraceContext {
            parent: Some(parent.to_owned()),
            state: Some("vendor=1".to_owned()),
        }
    }

    /// SUB-25: what a message says is read whole and written the same.
    #[test]
    fn a_context_goes_through() {
        for flags in ["00", "01"] {
            let context = of(&format!("00-{TRACE}-{SPAN}-{flags}"));
            let span = read(&context).expect("it is well-formed");
            assert_eq!(span.is_sampled(), flags == "01");
            assert!(span.is_remote());
            assert_eq!(write(&span), context);
        }
    }

    /// SUB-25: a later version is read by the parts that this one knows.
    #[test]
    fn a_later_version_is_read() {
        assert!(read(&of(&format!("01-{TRACE}-{SPAN}-01-more"))).is_some());
    }

    /// SUB-25: what is malformed is no context.
    #[test]
    fn what_is_malformed_is_no_context() {
        let zero = "0".repeat(32);
        for parent in [
            String::new(),
            "-".to_owned(),
            "00-trace".to_owned(),
            format!("00-{TRACE}-{SPAN}"),
            format!("00-{TRACE}-{SPAN}-01-more"),
            format!("ff-{TRACE}-{SPAN}-01"),
            format!("00-{zero}-{SPAN}-01"),
            format!("00-{TRACE}-{}-01", &zero[..16]),
            format!("00-{}-{SPAN}-01", TRACE.to_uppercase()),
            format!("00-{TRACE}-{SPAN}-0é"),
            format!("00-{TRACE}x-{SPAN}-01"),
        ] {
            assert_eq!(read(&of(&parent)), None, "{parent}");
        }
        assert_eq!(read(&TraceContext::default()), None);
    }

    /// SUB-25: a malformed `tracestate` costs only itself.
    #[test]
    fn a_malformed_state_costs_only_itself() {
        let context = TraceContext {
            state: Some("no pair".to_owned()),
            ..of(&format!("00-{TRACE}-{SPAN}-01"))
        };
        let span = read(&context).expect("the parent is well-formed");
        assert_eq!(write(&span).state, None);
    }
}
