use super::media_type::MediaType;
use super::text::shown;
use super::{CloudEvent, CloudEventFault, InvalidCloudEvent, binary};
use crate::wire::Envelope;

/// What the media types of all event formats begin with.
const EVENT_FORMATS: &str = "application/cloudevents";

/// How a message carries a CloudEvent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CloudEventMode {
    /// The body is the event in the JSON format.
    Structured,
    /// The body is a batch of events in the JSON format.
    Batch,
    /// The body is an event in a format that is not read here, such as Avro.
    OtherFormat,
    /// The attributes are application properties, and the body is the data.
    Binary,
}

impl CloudEventMode {
    /// How a message says that it carries one; `None` when it does not.
    ///
    /// The content type decides. Otherwise one of the four required attributes is enough, so that
    /// an event which lacks the others is told so.
    #[must_use]
    pub fn of(envelope: &Envelope) -> Option<Self> {
        let content_type = envelope.content_type.as_deref().unwrap_or_default();
        let essence = content_type.split(';').next().unwrap_or_default().trim();
        match essence.to_ascii_lowercase().as_str() {
            "application/cloudevents+json" => Some(Self::Structured),
            "application/cloudevents-batch+json" => Some(Self::Batch),
            other if other.starts_with(EVENT_FORMATS) => Some(Self::OtherFormat),
            _ => binary::is_marked(envelope).then_some(Self::Binary),
        }
    }
}

impl CloudEvent {
    /// Reads the event that a message carries, in structured or binary content mode.
    ///
    /// # Errors
    ///
    /// [`InvalidCloudEvent`] when the message carries none, a batch, an event format other than
    /// JSON, or an event that the specification does not allow.
    pub fn decode(envelope: &Envelope) -> Result<Self, InvalidCloudEvent> {
        let content_type = envelope.content_type.as_deref().unwrap_or_default();
        match CloudEventMode::of(envelope) {
            None => Err(InvalidCloudEvent::from(CloudEventFault::NotACloudEvent)),
            Some(CloudEventMode::Structured) => {
                require_utf_8(content_type)?;
                Self::from_json(&envelope.body)
            }
            Some(CloudEventMode::Batch) => {
                require_utf_8(content_type)?;
                let events = Self::batch_from_json(&envelope.body)?.len();
                Err(InvalidCloudEvent::from(CloudEventFault::Batch { events }))
            }
            Some(CloudEventMode::OtherFormat) => {
                Err(InvalidCloudEvent::from(CloudEventFault::Format {
                    content_type: shown(content_type),
                }))
            }
            Some(CloudEventMode::Binary) => binary::read(envelope),
        }
    }
}

/// A content type with unreadable parameters names no charset.
fn require_utf_8(content_type: &str) -> Result<(), CloudEventFault> {
    MediaType::parse(content_type).map_or(Ok(()), |media_type| media_type.require_utf_8())
}
