use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// The id of an event, shared by every message that concerns it.
///
/// Two ids are equal when they differ only by ASCII case (SUB-04).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct EventId(Cow<'static, str>);

impl EventId {
    /// Wraps a name as it is.
    #[must_use]
    pub fn new(name: impl Into<String>) -> Self {
        Self(Cow::Owned(name.into()))
    }

    /// The name as it was given.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PartialEq for EventId {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for EventId {}

impl Hash for EventId {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for byte in self.0.bytes() {
            state.write_u8(byte.to_ascii_lowercase());
        }
        state.write_u8(0xff);
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for EventId {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for EventId {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}
