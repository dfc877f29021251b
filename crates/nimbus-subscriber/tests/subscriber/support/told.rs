use nimbus_messaging::{Envelope, Headers, MessageContent};

/// A message that the resolver was sent.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) headers: Headers,
    pub(crate) content: MessageContent,
}

impl Told {
    pub(crate) fn read(envelope: &Envelope) -> Self {
        Self {
            headers: Headers::read(envelope).unwrap(),
            content: MessageContent::decode(&envelope.body).unwrap(),
        }
    }

    /// The message type and the event, such as `ErrorResponse a`.
    pub(crate) fn line(&self) -> String {
        let event = self.headers.event_id.as_ref();
        let event = event.map_or("-", |event| event.as_str());
        format!("{} {event}", self.headers.message_type)
    }

    pub(crate) fn error_text(&self) -> Option<&str> {
        self.content.error_content.as_ref()?.error_text.as_deref()
    }

    pub(crate) fn error_type(&self) -> Option<&str> {
        self.content.error_content.as_ref()?.error_type.as_deref()
    }

    pub(crate) fn event_json(&self) -> Option<&str> {
        self.content.event_content.as_ref()?.event_json.as_deref()
    }
}
