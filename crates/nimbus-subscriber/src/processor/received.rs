use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{
    Envelope, ErrorContent, EventContent, Headers, MalformedMessage, MessageContent, Properties,
    property, random_message_id,
};
use tokio_util::sync::CancellationToken;

use crate::responder::About;

/// A message as it is processed: a delivery, or a parked copy in its place.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) envelope: Envelope,
    pub(crate) headers: Headers,
    pub(crate) delivery_count: u32,
    pub(crate) enqueued_at: Option<Timestamp>,
    pub(crate) received_at: Timestamp,
    /// It belongs to another session than it was delivered in.
    pub(super) moves: bool,
    event: Option<EventContent>,
}

/// What ends a handler before it returns.
#[derive(Debug, Clone)]
pub(crate) struct Interrupts {
    /// The subscriber was asked to stop; handlers may finish.
    pub(crate) stopping: CancellationToken,
    /// Handlers are dropped now: the drain deadline passed, or the lock is gone.
    pub(crate) abort: CancellationToken,
}

impl Received {
    /// Reads the headers; the body is read by what needs it. Of a message whose headers don't read,
    /// enough is kept to tell the resolver which one it was.
    pub(crate) fn read(
        envelope: Envelope,
        delivery_count: u32,
        enqueued_at: Option<Timestamp>,
        received_at: Timestamp,
    ) -> (Self, Result<(), MalformedMessage>) {
        let (headers, read) = match Headers::read(&envelope) {
            Ok(headers) => (headers, Ok(())),
            Err(error) => (identity_of(&envelope), Err(error)),
        };
        let received = Self {
            event: None,
            envelope,
            headers,
            delivery_count,
            enqueued_at,
            received_at,
            moves: false,
        };
        (received, read)
    }

    /// Reads the event in the body and fills in the identities that an event must have to block a
    /// session: a foreign publisher need not set an event id (SUB-05).
    pub(crate) fn read_event(&mut self) -> Result<(), MalformedMessage> {
        let event = MessageContent::decode(&self.envelope.body)?
            .event_content
            .unwrap_or_default();
        if self.headers.event_type_id.is_none() {
            self.headers.event_type_id.clone_from(&event.event_type_id);
        }
        if self.headers.event_id.is_none() {
            let id = self
                .source_id()
                .map_or_else(random_message_id, ToOwned::to_owned);
            self.headers.event_id = Some(id.into());
        }
        self.event = Some(event);
        Ok(())
    }

    /// Reads what the body says went wrong.
    pub(crate) fn read_error(&self) -> Result<Option<ErrorContent>, MalformedMessage> {
        Ok(MessageContent::decode(&self.envelope.body)?.error_content)
    }

    /// Reads the event of a message that needs none or is set aside for another fault, if it can
    /// be read: what the resolver is told keeps it (SUB-24).
    pub(crate) fn keep_event(&mut self) {
        if self.event.is_none() {
            let content = MessageContent::decode(&self.envelope.body).ok();
            self.event = content.and_then(|content| content.event_content);
        }
    }

    pub(crate) fn event(&self) -> Option<&EventContent> {
        self.event.as_ref()
    }

    pub(crate) fn event_type(&self) -> &str {
        self.headers.event_type_id.as_deref().unwrap_or_default()
    }

    /// The message id that the broker first delivered the event with (INB-16).
    pub(crate) fn source_id(&self) -> Option<&str> {
        let headers = &self.headers;
        headers
            .inbox_message_id
            .as_deref()
            .or(headers.message_id.as_deref())
    }

    /// What an outcome message says of it.
    pub(crate) fn about(&self) -> About<'_> {
        About {
            headers: &self.headers,
            event: self.event.as_ref(),
            enqueued_at: self.enqueued_at,
            received_at: self.received_at,
        }
    }
}

/// The headers that are text and so always read.
fn identity_of(envelope: &Envelope) -> Headers {
    let mut readable = Envelope {
        properties: Properties::default(),
        ..envelope.clone()
    };
    for name in [
        property::MESSAGE_TYPE,
        property::EVENT_ID,
        property::EVENT_TYPE_ID,
        property::FROM,
        property::INBOX_MESSAGE_ID,
        property::CLOUD_EVENT_ID,
        property::CLOUD_EVENT_SOURCE,
        property::CLOUD_EVENT_TYPE,
        property::CLOUD_EVENT_SUBJECT,
    ] {
        if let Some(text) = envelope.properties.text(name) {
            readable.properties.set(name, text.into_owned());
        }
    }
    Headers::read(&readable).unwrap_or_default()
}
