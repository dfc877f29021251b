use serde::{Deserialize, Serialize};

/// The text that stands for the broker's own field.
const FROM_BROKER: &str = "from-broker";

/// Where an identity of a CloudEvent is taken from.
///
/// As text, the name of an attribute, or `from-broker`, which no attribute can be named.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
#[non_exhaustive]
pub enum AttributeSource {
    /// The message's own field at the broker.
    Broker,
    /// An attribute: `subject`, `id` or another of the specification's, or an extension such as
    /// `sessionid`.
    Attribute(String),
}

impl From<&str> for AttributeSource {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<String> for AttributeSource {
    fn from(text: String) -> Self {
        match text.as_str() {
            FROM_BROKER => Self::Broker,
            _ => Self::Attribute(text),
        }
    }
}

impl From<AttributeSource> for String {
    fn from(source: AttributeSource) -> Self {
        match source {
            AttributeSource::Broker => FROM_BROKER.to_owned(),
            AttributeSource::Attribute(name) => name,
        }
    }
}
