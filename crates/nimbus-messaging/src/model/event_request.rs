use serde::Serialize;

use super::{
    Address, EventContent, EventId, Headers, MessageContent, MessageType, random_message_id,
};
use crate::wire::Envelope;

/// Builds the message that asks an endpoint to handle an event.
#[derive(Debug, Clone)]
pub struct EventRequest {
    headers: Headers,
    event_json: String,
}

impl EventRequest {
    /// An event of type `event_type` with a fresh message id and event id.
    ///
    /// # Errors
    ///
    /// When `event` can't be written as JSON.
    pub fn new<T: Serialize>(event_type: &str, event: &T) -> Result<Self, serde_json::Error> {
        Ok(Self {
            headers: Headers {
                message_type: MessageType::EventRequest,
                message_id: Some(random_message_id()),
                event_id: Some(EventId::new(random_message_id())),
                event_type_id: Some(event_type.to_owned()),
                from: Some(Address::EVENT),
                ..Headers::default()
            },
            event_json: serde_json::to_string(event)?,
        })
    }

    /// Sets the message id. A publisher that may send twice sets the same id both times.
    #[must_use]
    pub fn with_message_id(mut self, id: impl Into<String>) -> Self {
        self.headers.message_id = Some(id.into());
        self
    }

    /// Sets the event id.
    #[must_use]
    pub fn with_event_id(mut self, id: impl Into<EventId>) -> Self {
        self.headers.event_id = Some(id.into());
        self
    }

    /// Sets the session whose order the event keeps.
    #[must_use]
    pub fn with_session(mut self, session: impl Into<String>) -> Self {
        self.headers.session_id = Some(session.into());
        self
    }

    /// Changes any other header.
    #[must_use]
    pub fn with_headers(mut self, change: impl FnOnce(&mut Headers)) -> Self {
        change(&mut self.headers);
        self
    }

    /// Addresses the event and puts it into an envelope.
    #[must_use]
    pub fn to(mut self, address: impl Into<Address>) -> Envelope {
        self.headers.to = Some(address.into());
        let content = MessageContent {
            event_content: Some(EventContent {
                event_type_id: self.headers.event_type_id.clone(),
                event_json: Some(self.event_json),
            }),
            error_content: None,
        };
        self.headers.into_envelope(&content)
    }
}
