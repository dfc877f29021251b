use nimbus_messaging::EventContent;

use crate::handler::HandlerContext;

/// One run of a handler, as middleware sees it.
///
/// `Debug` shows no payload.
#[derive(Debug, Clone)]
pub struct HandlerRequest {
    event: EventContent,
    context: HandlerContext,
}

impl HandlerRequest {
    pub(super) fn new(event: EventContent, context: HandlerContext) -> Self {
        Self { event, context }
    }

    /// The event type id, which chose the handler.
    #[must_use]
    pub fn event_type(&self) -> &str {
        self.context.event_type()
    }

    /// The event as it came: JSON that nobody has read yet; `null` where the message has none.
    #[must_use]
    pub fn event_json(&self) -> &str {
        self.event.event_json.as_deref().unwrap_or("null")
    }

    /// What the handler gets: identity, metadata, and the token of stopping.
    #[must_use]
    pub fn context(&self) -> &HandlerContext {
        &self.context
    }

    pub(super) fn event(&self) -> &EventContent {
        &self.event
    }
}
