use std::borrow::Cow;
use std::collections::BTreeMap;

use super::error::unique_id;
use super::{CloudEventData, CloudEventIdentity, InvalidCloudEvent};

/// A valid CloudEvent 1.0.
///
/// Attributes are in the specification's string form, whatever type they had on the wire: a time
/// keeps its offset, and a whole number all its digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CloudEvent {
    pub(super) id: String,
    pub(super) source: String,
    pub(super) event_type: String,
    pub(super) subject: Option<String>,
    pub(super) time: Option<String>,
    pub(super) data_content_type: Option<String>,
    pub(super) data_schema: Option<String>,
    pub(super) extensions: BTreeMap<String, String>,
    pub(super) data: Option<CloudEventData>,
}

impl CloudEvent {
    /// `id`: unique within the source, never empty.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// `source`: where it happened, a URI reference that is never empty.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// `type`: what happened, never empty.
    #[must_use]
    pub fn event_type(&self) -> &str {
        &self.event_type
    }

    /// `subject`: what it happened to, within the source.
    #[must_use]
    pub fn subject(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// `time`: when it happened, in RFC 3339 as the producer wrote it.
    #[must_use]
    pub fn time(&self) -> Option<&str> {
        self.time.as_deref()
    }

    /// `datacontenttype`: the media type of the data. JSON data may have none.
    #[must_use]
    pub fn data_content_type(&self) -> Option<&str> {
        self.data_content_type.as_deref()
    }

    /// `dataschema`: the schema of the data, an absolute URI.
    #[must_use]
    pub fn data_schema(&self) -> Option<&str> {
        self.data_schema.as_deref()
    }

    /// The extension attributes, by name.
    pub fn extensions(&self) -> impl Iterator<Item = (&str, &str)> {
        let pairs = self.extensions.iter();
        pairs.map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// Any attribute by its name, one of the specification's or an extension.
    #[must_use]
    pub fn attribute(&self, name: &str) -> Option<&str> {
        match name {
            "specversion" => Some("1.0"),
            "id" => Some(&self.id),
            "source" => Some(&self.source),
            "type" => Some(&self.event_type),
            "subject" => self.subject(),
            "time" => self.time(),
            "datacontenttype" => self.data_content_type(),
            "dataschema" => self.data_schema(),
            extension => self.extensions.get(extension).map(String::as_str),
        }
    }

    /// The data; an event may have none.
    #[must_use]
    pub fn data(&self) -> Option<&CloudEventData> {
        self.data.as_ref()
    }

    /// The data as JSON text, as it was written; `None` when the event has no data.
    ///
    /// Bytes are JSON when `datacontenttype` says so.
    ///
    /// # Errors
    ///
    /// [`InvalidCloudEvent`] when the data is of another type, or is not the JSON it should be.
    pub fn json_data(&self) -> Result<Option<Cow<'_, str>>, InvalidCloudEvent> {
        let data = self.data.as_ref();
        data.map(|data| data.json(self.data_content_type()))
            .transpose()
            .map_err(|fault| InvalidCloudEvent::new(fault, self.identity(), None))
    }

    /// An id for the event that no event of another source has: an `id` alone is unique within its
    /// source only. 64 ASCII characters, however long the two are (SUB-34).
    #[must_use]
    pub fn unique_id(&self) -> String {
        unique_id(&self.source, &self.id)
    }

    /// The attributes that tell which event it is.
    #[must_use]
    pub fn identity(&self) -> CloudEventIdentity {
        CloudEventIdentity {
            id: Some(self.id.clone()),
            source: Some(self.source.clone()),
            event_type: Some(self.event_type.clone()),
            subject: self.subject.clone(),
        }
    }
}
