use super::CloudEventData;
use crate::model::derived_message_id;

/// Why a message is no CloudEvent that can be read, and what it said of itself.
///
/// The text becomes the description of its dead-lettering. It may hold attributes, which are there
/// to be logged, and never the data.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{fault}")]
pub struct InvalidCloudEvent {
    fault: CloudEventFault,
    said: Box<Said>,
}

/// What could be read all the same.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Said {
    identity: CloudEventIdentity,
    data: Option<CloudEventData>,
}

impl InvalidCloudEvent {
    pub(super) fn new(
        fault: CloudEventFault,
        identity: CloudEventIdentity,
        data: Option<CloudEventData>,
    ) -> Self {
        Self {
            fault,
            said: Box::new(Said { identity, data }),
        }
    }

    /// What is wrong.
    #[must_use]
    pub fn fault(&self) -> &CloudEventFault {
        &self.fault
    }

    /// What could be read of the event's identity all the same.
    #[must_use]
    pub fn identity(&self) -> &CloudEventIdentity {
        &self.said.identity
    }

    /// The data as JSON, if the fault is elsewhere and the data could be read as such.
    #[must_use]
    pub fn json_data(&self) -> Option<&str> {
        match &self.said.data {
            Some(CloudEventData::Json(json)) => Some(json),
            _ => None,
        }
    }
}

/// Before any attribute was read.
impl From<CloudEventFault> for InvalidCloudEvent {
    fn from(fault: CloudEventFault) -> Self {
        Self::new(fault, CloudEventIdentity::default(), None)
    }
}

/// The attributes that tell which event it is, as far as they are there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CloudEventIdentity {
    /// `id`, unique within the source.
    pub id: Option<String>,
    /// `source`.
    pub source: Option<String>,
    /// `type`.
    pub event_type: Option<String>,
    /// `subject`.
    pub subject: Option<String>,
}

impl CloudEventIdentity {
    /// The [id](crate::CloudEvent::unique_id) of the event, if source and id are both there.
    #[must_use]
    pub fn unique_id(&self) -> Option<String> {
        Some(unique_id(self.source.as_deref()?, self.id.as_deref()?))
    }
}

pub(super) fn unique_id(source: &str, id: &str) -> String {
    derived_message_id(&["cloud-event", source, id])
}

/// What is wrong with a CloudEvent.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CloudEventFault {
    /// A required attribute is missing.
    #[error("no {attribute}")]
    Missing {
        /// Its name.
        attribute: &'static str,
    },
    /// An attribute does not hold what it should.
    #[error("{attribute} {problem}")]
    Attribute {
        /// Its name.
        attribute: String,
        /// What is wrong with it.
        problem: AttributeProblem,
    },
    /// An attribute, or the data, is there more than once.
    #[error("{member} is there more than once")]
    Duplicate {
        /// Its name.
        member: String,
    },
    /// The name of an attribute is not one.
    #[error("{name:?} is no name of an attribute: those are lower-case letters and digits")]
    Name {
        /// The name, cut to 64 characters.
        name: String,
    },
    /// The attributes of one message have different prefixes.
    #[error("its attributes have different prefixes; a message has one for all of them")]
    MixedPrefixes,
    /// `data` and `data_base64` are both there.
    #[error("data and data_base64 are both there; one excludes the other")]
    TwoData,
    /// `data_base64` can't be decoded.
    #[error("data_base64 is {found}, not bytes in Base64")]
    Base64 {
        /// What it is.
        found: &'static str,
    },
    /// Data whose type is not JSON stands in JSON as something else than a string.
    #[error("data is {found}, not a string, and datacontenttype is {content_type:?}")]
    DataNotText {
        /// What it is.
        found: &'static str,
        /// The type of the data.
        content_type: String,
    },
    /// The data is JSON neither by its type nor by default.
    #[error("datacontenttype is {content_type:?}; only JSON is read")]
    DataNotJson {
        /// The type of the data.
        content_type: String,
    },
    /// The data is bytes of a type that nothing names.
    #[error("no datacontenttype, so the data is not known to be JSON; only JSON is read")]
    DataOfNoType,
    /// The data should be JSON and is not.
    #[error("the data is not the JSON that datacontenttype names: {problem}")]
    DataMalformed {
        /// What is wrong and where, without the data.
        problem: String,
    },
    /// Nothing says that the message is a CloudEvent.
    #[error(
        "no CloudEvent: neither is the content type application/cloudevents+json nor is there a \
         property such as cloudEvents_specversion"
    )]
    NotACloudEvent,
    /// The message holds several events.
    #[error("a batch of {events} CloudEvents; send each as a message of its own")]
    Batch {
        /// How many.
        events: usize,
    },
    /// An event format that is not read.
    #[error("the content type is {content_type:?}; of the event formats only JSON is read")]
    Format {
        /// The content type, cut to 64 characters.
        content_type: String,
    },
    /// JSON in another encoding than UTF-8.
    #[error("the content type names the charset {charset:?}; JSON is read as UTF-8")]
    Charset {
        /// The charset, cut to 64 characters.
        charset: String,
    },
    /// The body is not JSON.
    #[error("the body is not JSON: {problem}")]
    Json {
        /// What is wrong and where, without the data.
        problem: String,
    },
    /// The body is JSON of another kind.
    #[error("the body is {found}, not {expected}")]
    Shape {
        /// What it is.
        found: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// Arrays and objects are nested too deeply.
    #[error("the JSON is nested more than {limit} levels deep")]
    TooDeep {
        /// The deepest nesting that is read.
        limit: usize,
    },
}

impl CloudEventFault {
    /// The attribute that is missing or wrong, if it is one.
    #[must_use]
    pub fn attribute(&self) -> Option<&str> {
        match self {
            Self::Missing { attribute } => Some(attribute),
            Self::Attribute { attribute, .. } => Some(attribute),
            Self::Duplicate { member } => Some(member),
            Self::Name { name } => Some(name),
            _ => None,
        }
    }

    pub(super) fn of(attribute: &str, problem: AttributeProblem) -> Self {
        Self::Attribute {
            attribute: attribute.to_owned(),
            problem,
        }
    }
}

/// What is wrong with the value of an attribute; reads as the rest of a sentence about it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AttributeProblem {
    /// It has to say something.
    #[error("is empty")]
    Empty,
    /// It is no value of an attribute, or of this one.
    #[error("is {found}, not {expected}")]
    Type {
        /// What it is.
        found: &'static str,
        /// What it should be.
        expected: &'static str,
    },
    /// It has a character that no attribute may have.
    #[error("holds the character {character:?}, which no attribute may hold")]
    Character {
        /// The first of them.
        character: char,
    },
    /// It can't be decoded to text.
    #[error("is a string with an invalid escape")]
    Escape,
    /// It is another version than 1.0.
    #[error("is {found:?}; only CloudEvents 1.0 are read")]
    Version {
        /// The version, cut to 64 characters.
        found: String,
    },
    /// It does not follow RFC 3986.
    #[error("{problem}, so it is no URI reference")]
    UriReference {
        /// What is wrong.
        problem: &'static str,
    },
    /// It is a reference where a whole URI is needed.
    #[error("has no scheme such as https:, so it is no absolute URI")]
    NoScheme,
    /// It does not follow RFC 3339.
    #[error("is not an RFC 3339 instant such as 2026-09-14T06:12:05Z")]
    Time,
    /// It does not follow RFC 2046.
    #[error("is not a media type such as application/json")]
    MediaType,
}
