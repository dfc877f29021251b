use std::fmt;

use nimbus_messaging::{Address, EventId, Headers};

/// What the resolver knows an event by: the endpoint that handles it, and its id.
///
/// Both ignore ASCII case, as the wire does (SUB-04).
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct EventKey {
    /// The endpoint that handles the event.
    pub endpoint: Address,
    /// The event.
    pub subject: Subject,
}

/// What an event is named by.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Subject {
    /// Its id.
    Event(EventId),
    /// The id of its message, where nobody gave the event one (SUB-05). Byte-exact.
    Message(String),
}

impl EventKey {
    /// An event by its id.
    #[must_use]
    pub fn new(endpoint: impl Into<Address>, event_id: impl Into<EventId>) -> Self {
        Self {
            endpoint: endpoint.into(),
            subject: Subject::Event(event_id.into()),
        }
    }

    /// The event's id, if it has one.
    #[must_use]
    pub fn event_id(&self) -> Option<&EventId> {
        match &self.subject {
            Subject::Event(id) => Some(id),
            Subject::Message(_) => None,
        }
    }

    /// The endpoint as it stands in the key column.
    pub(crate) fn endpoint_column(&self) -> String {
        self.endpoint.as_str().to_ascii_lowercase()
    }
}

impl Subject {
    /// An outcome without an event id is about the message that the broker first delivered, else
    /// about the one it names.
    pub(crate) fn of(headers: &Headers) -> Option<Self> {
        let event = headers.event_id.clone().map(Self::Event);
        event.or_else(|| {
            let message = headers
                .inbox_message_id
                .as_ref()
                .or(headers.parent_message_id.as_ref())
                .or(headers.originating_message_id.as_ref())
                .or(headers.message_id.as_ref());
            message.cloned().map(Self::Message)
        })
    }

    /// The text that it was named by.
    #[must_use]
    pub fn as_str(&self) -> &str {
        match self {
            Self::Event(id) => id.as_str(),
            Self::Message(id) => id,
        }
    }

    /// The subject as it stands in the key column; the two kinds never meet.
    pub(crate) fn column(&self) -> String {
        match self {
            Self::Event(id) => format!("event:{}", id.as_str().to_ascii_lowercase()),
            Self::Message(id) => format!("message:{id}"),
        }
    }
}

impl fmt::Display for EventKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.subject {
            Subject::Event(id) => write!(f, "event {:?} of {}", id.as_str(), self.endpoint),
            Subject::Message(id) => write!(f, "message {id:?} of {}", self.endpoint),
        }
    }
}
