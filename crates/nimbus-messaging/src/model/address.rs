use std::borrow::Cow;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::{Deserialize, Serialize};

/// The name of an endpoint, a well-known receiver or a topic.
///
/// Two addresses are equal when they differ only by ASCII case (SUB-04). Inbox keys never compare
/// that way: they use [`EndpointId`](nimbus_inbox_core::EndpointId).
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Address(Cow<'static, str>);

impl Address {
    /// Keeps the state of every event.
    pub const RESOLVER: Self = Self::from_static("Resolver");
    /// Sends what operators ask for.
    pub const MANAGER: Self = Self::from_static("Manager");
    /// Sends continuation requests of the older, broker-native deferral.
    pub const CONTINUATION: Self = Self::from_static("Continuation");
    /// The subscriber's own endpoint, as a sender names it.
    pub const SELF: Self = Self::from_static("self");
    /// The publisher of events.
    pub const EVENT: Self = Self::from_static("Event");
    /// The sender of scheduled retries.
    pub const RETRY: Self = Self::from_static("Retry");
    /// The sender of drain requests.
    pub const DEFERRED_PROCESSOR: Self = Self::from_static("DeferredProcessor");
    /// The queue of parked copies, where a broker keeps them.
    pub const DEFERRED: Self = Self::from_static("Deferred");

    /// A name that is known at compile time.
    #[must_use]
    pub const fn from_static(name: &'static str) -> Self {
        Self(Cow::Borrowed(name))
    }

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

impl PartialEq for Address {
    fn eq(&self, other: &Self) -> bool {
        self.0.eq_ignore_ascii_case(&other.0)
    }
}

impl Eq for Address {}

impl Hash for Address {
    fn hash<H: Hasher>(&self, state: &mut H) {
        for byte in self.0.bytes() {
            state.write_u8(byte.to_ascii_lowercase());
        }
        state.write_u8(0xff);
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<&str> for Address {
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Address {
    fn from(name: String) -> Self {
        Self::new(name)
    }
}
