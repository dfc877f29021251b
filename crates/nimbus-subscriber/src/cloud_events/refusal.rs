use std::borrow::Cow;

use nimbus_messaging::{CloudEventFault, CloudEventIdentity, Envelope, property};

use super::translation::{CloudEvents, Translated, content};

impl CloudEvents {
    /// Keeps what the event said of itself and its data, for what the resolver is told: an operator
    /// can resubmit it from there.
    pub(super) fn refused(
        &self,
        mut envelope: Envelope,
        (said, json): (&CloudEventIdentity, Option<&str>),
        reason: &'static str,
        description: String,
    ) -> Translated {
        let event_id = said.unique_id().or_else(|| envelope.message_id.clone());
        let event_type = said.event_type.as_deref();
        let event_type = event_type.map(|said| self.mapping.event_type_of(said));
        for (name, value) in [
            (property::CLOUD_EVENT_ID, said.id.as_deref()),
            (property::CLOUD_EVENT_SOURCE, said.source.as_deref()),
            (property::CLOUD_EVENT_TYPE, said.event_type.as_deref()),
            (property::CLOUD_EVENT_SUBJECT, said.subject.as_deref()),
            (property::EVENT_ID, event_id.as_deref()),
            (property::EVENT_TYPE_ID, event_type),
        ] {
            if let Some(value) = value
                && envelope.properties.text(name).is_none()
            {
                envelope.properties.set(name, value);
            }
        }
        if let Some(json) = json {
            let event_type = envelope.properties.text(property::EVENT_TYPE_ID);
            let event_type = event_type.map(Cow::into_owned);
            envelope.body = content(event_type, Some(json.to_owned())).encode();
        }
        Translated::Refused {
            envelope,
            reason,
            description,
        }
    }
}

/// The reason that a message with this fault is dead-lettered for.
pub(super) fn reason(fault: &CloudEventFault) -> &'static str {
    match fault {
        CloudEventFault::NotACloudEvent => "NotACloudEvent",
        CloudEventFault::Batch { .. } => "CloudEventBatch",
        CloudEventFault::Format { .. }
        | CloudEventFault::DataNotJson { .. }
        | CloudEventFault::DataOfNoType => "UnsupportedCloudEvent",
        _ => "InvalidCloudEvent",
    }
}
