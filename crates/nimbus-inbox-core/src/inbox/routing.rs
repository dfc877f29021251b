/// Where a message belongs, for the log line of a duplicate; all of it may be absent.
#[derive(Debug, Clone, Copy, Default)]
#[non_exhaustive]
pub struct Routing<'m> {
    pub(super) message_type: Option<&'m str>,
    pub(super) event_type: Option<&'m str>,
    pub(super) event_id: Option<&'m str>,
    pub(super) session_id: Option<&'m str>,
    pub(super) correlation_id: Option<&'m str>,
}

impl<'m> Routing<'m> {
    /// Adds what kind of message it is.
    #[must_use]
    pub fn with_message_type(mut self, message_type: impl Into<Option<&'m str>>) -> Self {
        self.message_type = message_type.into();
        self
    }

    /// Adds the event type id.
    #[must_use]
    pub fn with_event_type(mut self, event_type: impl Into<Option<&'m str>>) -> Self {
        self.event_type = event_type.into();
        self
    }

    /// Adds the event id.
    #[must_use]
    pub fn with_event_id(mut self, event_id: impl Into<Option<&'m str>>) -> Self {
        self.event_id = event_id.into();
        self
    }

    /// Adds the session id.
    #[must_use]
    pub fn with_session_id(mut self, session_id: impl Into<Option<&'m str>>) -> Self {
        self.session_id = session_id.into();
        self
    }

    /// Adds the correlation id.
    #[must_use]
    pub fn with_correlation_id(mut self, correlation_id: impl Into<Option<&'m str>>) -> Self {
        self.correlation_id = correlation_id.into();
        self
    }
}
