use nimbus_inbox_core::Timestamp;

use super::{Address, EventId, MalformedMessage, MessageContent, MessageType};
use crate::wire::{Envelope, Properties, property};

/// W3C trace context of a message.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TraceContext {
    /// The `traceparent` field.
    pub parent: Option<String>,
    /// The `tracestate` field.
    pub state: Option<String>,
}

/// Everything a message says beside its body (SUB-02). What is absent on the wire is `None`.
#[derive(Debug, Clone, Default, PartialEq)]
#[expect(
    missing_docs,
    reason = "each field is documented by the property of its name"
)]
pub struct Headers {
    /// The broker's message id.
    pub message_id: Option<String>,
    /// The session whose order the message keeps.
    pub session_id: Option<String>,
    /// Groups the messages of one conversation.
    pub correlation_id: Option<String>,
    /// Where an answer goes.
    pub reply_to: Option<String>,
    /// The session of an answer.
    pub reply_to_session_id: Option<String>,
    pub message_type: MessageType,
    pub from: Option<Address>,
    pub to: Option<Address>,
    pub event_id: Option<EventId>,
    pub event_type_id: Option<String>,
    pub originating_message_id: Option<String>,
    pub originating_from: Option<String>,
    pub parent_message_id: Option<String>,
    pub parent_message_type: Option<MessageType>,
    pub original_session_id: Option<String>,
    pub inbox_message_id: Option<String>,
    pub block_id: Option<String>,
    pub retry_limit: Option<u32>,
    pub retry_count: Option<u32>,
    pub throttle_retry_count: Option<u32>,
    pub deferral_sequence: Option<i64>,
    pub queue_time_ms: Option<i64>,
    pub processing_time_ms: Option<i64>,
    pub dead_letter_reason: Option<String>,
    pub dead_letter_error_description: Option<String>,
    pub handoff_reason: Option<String>,
    pub external_job_id: Option<String>,
    pub expected_by: Option<Timestamp>,
    pub next_retry_at: Option<Timestamp>,
    pub cloud_event_id: Option<String>,
    pub cloud_event_source: Option<String>,
    pub cloud_event_type: Option<String>,
    pub cloud_event_subject: Option<String>,
    /// Trace context to continue.
    pub trace: TraceContext,
}

impl Headers {
    /// Reads the headers of an envelope.
    ///
    /// # Errors
    ///
    /// [`MalformedMessage::Property`] when a number or an instant is not one.
    pub fn read(envelope: &Envelope) -> Result<Self, MalformedMessage> {
        let from = Reader(&envelope.properties);
        Ok(Self {
            message_id: present(envelope.message_id.as_ref()),
            session_id: present(envelope.session_id.as_ref()),
            correlation_id: present(envelope.correlation_id.as_ref()),
            reply_to: present(envelope.reply_to.as_ref()),
            reply_to_session_id: present(envelope.reply_to_session_id.as_ref()),
            message_type: from
                .text(property::MESSAGE_TYPE)
                .map_or(MessageType::Unknown, |name| MessageType::from_wire(&name)),
            from: from.text(property::FROM).map(Address::from),
            to: from.text(property::TO).map(Address::from),
            event_id: from.text(property::EVENT_ID).map(EventId::from),
            event_type_id: from.text(property::EVENT_TYPE_ID),
            originating_message_id: from.text(property::ORIGINATING_MESSAGE_ID),
            originating_from: from.text(property::ORIGINATING_FROM),
            parent_message_id: from.text(property::PARENT_MESSAGE_ID),
            parent_message_type: from
                .text(property::PARENT_MESSAGE_TYPE)
                .map(|name| MessageType::from_wire(&name)),
            original_session_id: from.text(property::ORIGINAL_SESSION_ID),
            inbox_message_id: from.text(property::INBOX_MESSAGE_ID),
            block_id: from.text(property::BLOCK_ID),
            retry_limit: from.count(property::RETRY_LIMIT)?,
            retry_count: from.count(property::RETRY_COUNT)?,
            throttle_retry_count: from.count(property::THROTTLE_RETRY_COUNT)?,
            deferral_sequence: from.number(property::DEFERRAL_SEQUENCE)?,
            queue_time_ms: from.number(property::QUEUE_TIME_MS)?,
            processing_time_ms: from.number(property::PROCESSING_TIME_MS)?,
            dead_letter_reason: from.text(property::DEAD_LETTER_REASON),
            dead_letter_error_description: from.text(property::DEAD_LETTER_ERROR_DESCRIPTION),
            handoff_reason: from.text(property::HANDOFF_REASON),
            external_job_id: from.text(property::EXTERNAL_JOB_ID),
            expected_by: from.instant(property::EXPECTED_BY)?,
            next_retry_at: from.instant(property::NEXT_RETRY_AT)?,
            cloud_event_id: from.text(property::CLOUD_EVENT_ID),
            cloud_event_source: from.text(property::CLOUD_EVENT_SOURCE),
            cloud_event_type: from.text(property::CLOUD_EVENT_TYPE),
            cloud_event_subject: from.text(property::CLOUD_EVENT_SUBJECT),
            trace: TraceContext {
                parent: from.text(property::TRACEPARENT),
                state: from.text(property::TRACESTATE),
            },
        })
    }

    /// Puts headers and content into an envelope. Numbers become invariant decimal text, instants
    /// ISO 8601 in UTC.
    #[must_use]
    pub fn into_envelope(self, content: &MessageContent) -> Envelope {
        let mut to = Writer(Properties::default());
        to.text(property::MESSAGE_TYPE, Some(self.message_type.as_str()));
        to.text(property::FROM, self.from.as_ref().map(Address::as_str));
        to.text(property::TO, self.to.as_ref().map(Address::as_str));
        to.text(
            property::EVENT_ID,
            self.event_id.as_ref().map(EventId::as_str),
        );
        to.text(property::EVENT_TYPE_ID, self.event_type_id);
        to.text(
            property::ORIGINATING_MESSAGE_ID,
            self.originating_message_id,
        );
        to.text(property::ORIGINATING_FROM, self.originating_from);
        to.text(property::PARENT_MESSAGE_ID, self.parent_message_id);
        to.text(
            property::PARENT_MESSAGE_TYPE,
            self.parent_message_type.map(MessageType::as_str),
        );
        to.text(property::ORIGINAL_SESSION_ID, self.original_session_id);
        to.text(property::INBOX_MESSAGE_ID, self.inbox_message_id);
        to.text(property::BLOCK_ID, self.block_id);
        to.value(property::RETRY_LIMIT, self.retry_limit);
        to.value(property::RETRY_COUNT, self.retry_count);
        to.value(property::THROTTLE_RETRY_COUNT, self.throttle_retry_count);
        to.value(property::DEFERRAL_SEQUENCE, self.deferral_sequence);
        to.value(property::QUEUE_TIME_MS, self.queue_time_ms);
        to.value(property::PROCESSING_TIME_MS, self.processing_time_ms);
        to.text(property::DEAD_LETTER_REASON, self.dead_letter_reason);
        to.text(
            property::DEAD_LETTER_ERROR_DESCRIPTION,
            self.dead_letter_error_description,
        );
        to.text(property::HANDOFF_REASON, self.handoff_reason);
        to.text(property::EXTERNAL_JOB_ID, self.external_job_id);
        to.value(property::EXPECTED_BY, self.expected_by);
        to.value(property::NEXT_RETRY_AT, self.next_retry_at);
        to.text(property::CLOUD_EVENT_ID, self.cloud_event_id);
        to.text(property::CLOUD_EVENT_SOURCE, self.cloud_event_source);
        to.text(property::CLOUD_EVENT_TYPE, self.cloud_event_type);
        to.text(property::CLOUD_EVENT_SUBJECT, self.cloud_event_subject);
        to.text(property::TRACEPARENT, self.trace.parent);
        to.text(property::TRACESTATE, self.trace.state);
        Envelope {
            message_id: self.message_id,
            session_id: self.session_id,
            correlation_id: self.correlation_id,
            reply_to: self.reply_to,
            reply_to_session_id: self.reply_to_session_id,
            content_type: Some("application/json".to_owned()),
            properties: to.0,
            body: content.encode(),
        }
    }
}

/// An empty field is an absent one, as it is for a .NET peer.
fn present(field: Option<&String>) -> Option<String> {
    field.filter(|text| !text.is_empty()).cloned()
}

struct Reader<'a>(&'a Properties);

impl Reader<'_> {
    fn text(&self, name: &str) -> Option<String> {
        self.0.text(name).map(std::borrow::Cow::into_owned)
    }

    fn count(&self, name: &'static str) -> Result<Option<u32>, MalformedMessage> {
        self.parse(name, "a whole number from 0 to 4294967295")
    }

    fn number(&self, name: &'static str) -> Result<Option<i64>, MalformedMessage> {
        self.parse(name, "a whole number")
    }

    fn instant(&self, name: &'static str) -> Result<Option<Timestamp>, MalformedMessage> {
        self.parse(name, "an ISO 8601 instant")
    }

    fn parse<T: std::str::FromStr>(
        &self,
        name: &'static str,
        expected: &'static str,
    ) -> Result<Option<T>, MalformedMessage> {
        self.0
            .text(name)
            .map(|text| text.parse())
            .transpose()
            .map_err(|_| MalformedMessage::Property { name, expected })
    }
}

struct Writer(Properties);

impl Writer {
    fn text(&mut self, name: &str, text: Option<impl Into<String>>) {
        if let Some(text) = text {
            self.0.set(name, text.into());
        }
    }

    fn value(&mut self, name: &str, value: Option<impl ToString>) {
        self.text(name, value.map(|value| value.to_string()));
    }
}
