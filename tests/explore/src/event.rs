use std::fmt;

use nimbus_messaging::EventId;

/// The name of the endpoint in every world.
pub(crate) const ENDPOINT: &str = "BillingEndpoint";
/// The type of every event that has a handler.
pub(crate) const EVENT_TYPE: &str = "OrderPlaced";

/// The type of every event that has none.
pub(crate) const OTHER_TYPE: &str = "OrderArchived";
/// The type of a message that asks whether the endpoint is alive.
pub(crate) const HEARTBEAT: &str = "Heartbeat";

/// What kind of message an event comes as.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum EventKind {
    /// An event that has a handler.
    #[default]
    Handled,
    /// An event without a handler.
    Unsupported,
    /// An `UnsupportedResponse` that came back, whose event has a handler by now.
    Returned,
    /// A heartbeat.
    Heartbeat,
}

impl EventKind {
    pub(crate) fn event_type(self) -> &'static str {
        match self {
            Self::Handled | Self::Returned => EVENT_TYPE,
            Self::Unsupported => OTHER_TYPE,
            Self::Heartbeat => HEARTBEAT,
        }
    }

    /// Whether a handler runs for it.
    pub(crate) fn has_handler(self) -> bool {
        matches!(self, Self::Handled | Self::Returned)
    }
}

/// An event by its number: `a` is the first of the first session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Event(pub(crate) u8);

impl Event {
    pub(crate) fn of_id(id: Option<&EventId>) -> Option<Self> {
        Self::of_text(id?.as_str())
    }

    pub(crate) fn of_text(id: &str) -> Option<Self> {
        match id.as_bytes() {
            [letter @ b'a'..=b'z'] => Some(Self(letter - b'a')),
            _ => None,
        }
    }

    pub(crate) fn id(self) -> String {
        char::from(b'a' + self.0).to_string()
    }

    /// The message id that the publisher gives it.
    pub(crate) fn message_id(self) -> String {
        format!("m-{self}")
    }

    pub(crate) fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Write::write_char(f, char::from(b'a' + self.0))
    }
}
