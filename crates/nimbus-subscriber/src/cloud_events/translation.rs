use std::borrow::Cow;

use nimbus_messaging::{
    CloudEvent, CloudEventMode, Envelope, EventContent, EventId, Headers, MessageContent,
    MessageType, property,
};

use super::refusal::reason;
use super::{CloudEventMapping, ContentMode};
use crate::processor::{HEARTBEAT, MALFORMED};

/// How this endpoint reads CloudEvents.
#[derive(Debug, Clone, Default)]
pub(crate) struct CloudEvents {
    pub(crate) mode: ContentMode,
    pub(crate) mapping: CloudEventMapping,
}

/// What a delivery is to everything behind the translation.
#[derive(Debug)]
pub(crate) enum Translated {
    /// A native message, as it came.
    Native(Envelope),
    /// The native message that a CloudEvent became.
    Event {
        envelope: Envelope,
        /// It belongs to another session than it was delivered in.
        moves: bool,
    },
    /// A message that can't be taken, with what it said of its identity.
    Refused {
        envelope: Envelope,
        /// A short, fixed reason.
        reason: &'static str,
        /// What is wrong with it.
        description: String,
    },
}

impl CloudEvents {
    /// Makes a native message of a delivery.
    pub(crate) fn translate(&self, envelope: Envelope) -> Translated {
        if !self.is_to_be_read(&envelope) {
            return Translated::Native(envelope);
        }
        let read = CloudEvent::decode(&envelope).and_then(|event| {
            let json = event.json_data()?.map(Cow::into_owned);
            Ok((event, json))
        });
        let (event, json) = match read {
            Ok(read) => read,
            Err(invalid) => {
                let description = format!("the CloudEvent can't be taken: {invalid}");
                let event = (invalid.identity(), invalid.json_data());
                return self.refused(envelope, event, reason(invalid.fault()), description);
            }
        };
        let stamped = match Headers::read(&envelope) {
            Ok(stamped) => stamped,
            Err(malformed) => {
                let event = (&event.identity(), json.as_deref());
                return self.refused(envelope, event, MALFORMED, malformed.to_string());
            }
        };
        let delivered_in = stamped.session_id.clone();
        let headers = self.headers(&event, stamped);
        let content = content(headers.event_type_id.clone(), json);
        Translated::Event {
            moves: headers.session_id != delivered_in,
            envelope: headers.into_envelope(&content),
        }
    }

    /// Whether a message is a CloudEvent, or has to be one.
    fn is_to_be_read(&self, envelope: &Envelope) -> bool {
        if self.mode == ContentMode::Native {
            return false;
        }
        let named = envelope.properties.text(property::MESSAGE_TYPE);
        // A NimBus publisher stamps its CloudEvents as events; any other type is a message of the
        // project's own.
        if named.is_some_and(|name| MessageType::from_wire(&name) != MessageType::EventRequest) {
            return false;
        }
        CloudEventMode::of(envelope).is_some()
            || (self.mode == ContentMode::CloudEvents && !was_translated_or_asks(envelope))
    }

    /// What the native message says: what a NimBus publisher stamped, else what the mapping makes of
    /// the event.
    fn headers(&self, event: &CloudEvent, stamped: Headers) -> Headers {
        let mapping = &self.mapping;
        let unique_id = event.unique_id();
        let attribute = |name| event.attribute(name).map(ToOwned::to_owned);
        let mut headers = Headers {
            message_type: MessageType::EventRequest,
            session_id: mapping.session_of(event, stamped.session_id.as_deref()),
            correlation_id: mapping.correlation_of(event, stamped.correlation_id.as_deref()),
            cloud_event_id: Some(event.id().to_owned()),
            cloud_event_source: Some(event.source().to_owned()),
            cloud_event_type: Some(event.event_type().to_owned()),
            cloud_event_subject: event.subject().map(ToOwned::to_owned),
            ..stamped
        };
        // A redelivery of a message without an id is recognised by its event.
        headers.message_id.get_or_insert_with(|| unique_id.clone());
        headers.event_id.get_or_insert(EventId::from(unique_id));
        headers
            .event_type_id
            .get_or_insert_with(|| mapping.event_type_of(event.event_type()).to_owned());
        if headers.trace.parent.is_none() {
            headers.trace.parent = attribute("traceparent");
            headers.trace.state = attribute("tracestate");
        }
        headers
    }
}

/// A native event that has its place where events are CloudEvents: one that was a CloudEvent and
/// comes back, and the question whether the endpoint is alive.
fn was_translated_or_asks(envelope: &Envelope) -> bool {
    let text = |name| envelope.properties.text(name);
    text(property::CLOUD_EVENT_ID).is_some()
        || text(property::EVENT_TYPE_ID).as_deref() == Some(HEARTBEAT)
}

/// The content of a native message about an event.
pub(super) fn content(event_type_id: Option<String>, event_json: Option<String>) -> MessageContent {
    MessageContent {
        event_content: Some(EventContent {
            event_type_id,
            event_json,
        }),
        error_content: None,
    }
}
