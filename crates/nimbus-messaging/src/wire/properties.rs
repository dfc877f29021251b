use std::borrow::Cow;
use std::collections::BTreeMap;

use nimbus_inbox_core::Timestamp;
use serde::{Deserialize, Serialize};

/// The value of an application property.
///
/// This project writes text only (SUB-02); the other kinds come from foreign producers and are
/// kept as they are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum PropertyValue {
    /// Text.
    Text(String),
    /// A whole number.
    Integer(i64),
    /// A floating-point number.
    Float(f64),
    /// A truth value.
    Boolean(bool),
    /// An instant, in 100-nanosecond ticks since the Unix epoch.
    Instant(i64),
}

impl PropertyValue {
    /// The value as text, in invariant form: decimal numbers, ISO 8601 instants.
    #[must_use]
    pub fn to_text(&self) -> Cow<'_, str> {
        match self {
            Self::Text(text) => Cow::Borrowed(text),
            Self::Integer(number) => Cow::Owned(number.to_string()),
            Self::Float(number) => Cow::Owned(number.to_string()),
            Self::Boolean(value) => Cow::Borrowed(if *value { "true" } else { "false" }),
            Self::Instant(ticks) => Cow::Owned(Timestamp::from_unix_ticks(*ticks).to_string()),
        }
    }
}

impl From<&str> for PropertyValue {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for PropertyValue {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Application properties by name; names are case-sensitive.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Properties(BTreeMap<String, PropertyValue>);

impl Properties {
    /// The value of `name`, if it is set.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&PropertyValue> {
        self.0.get(name)
    }

    /// The value of `name` as text; an empty text counts as absent, as it does for a .NET peer.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.0
            .get(name)
            .map(PropertyValue::to_text)
            .filter(|text| !text.is_empty())
    }

    /// Sets `name`, replacing what was there.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<PropertyValue>) {
        self.0.insert(name.into(), value.into());
    }

    /// Removes `name` and returns what it held.
    pub fn remove(&mut self, name: &str) -> Option<PropertyValue> {
        self.0.remove(name)
    }

    /// Every property, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &PropertyValue)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// `true` when there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
