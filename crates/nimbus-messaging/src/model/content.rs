use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::MalformedMessage;
use super::json_depth;

/// The body of a message (SUB-03). Unknown members are ignored.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct MessageContent {
    /// The event.
    #[serde(default)]
    pub event_content: Option<EventContent>,
    /// What went wrong, on responses.
    #[serde(default)]
    pub error_content: Option<ErrorContent>,
}

/// The event inside a message.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct EventContent {
    /// Type of the event, which selects the handler.
    #[serde(default)]
    pub event_type_id: Option<String>,
    /// The event itself, as JSON in a string.
    #[serde(default)]
    pub event_json: Option<String>,
}

/// What went wrong with an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct ErrorContent {
    /// What happened, for the operator.
    #[serde(default)]
    pub error_text: Option<String>,
    /// The kind of error, such as its type name.
    #[serde(default)]
    pub error_type: Option<String>,
    /// A .NET peer's stack trace.
    #[serde(default)]
    pub exception_stack_trace: Option<String>,
    /// A .NET peer's assembly.
    #[serde(default)]
    pub exception_source: Option<String>,
}

/// Why an event could not be read as the handler's type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the event is not a readable {event_type}: {problem}")]
pub struct UnreadableEvent {
    event_type: String,
    problem: String,
}

impl MessageContent {
    /// Reads a body.
    ///
    /// # Errors
    ///
    /// [`MalformedMessage`] when the body is empty, not such JSON, or nested beyond 32 levels.
    pub fn decode(body: &[u8]) -> Result<Self, MalformedMessage> {
        if body.is_empty() {
            return Err(MalformedMessage::EmptyBody);
        }
        json_depth::check(body)?;
        serde_json::from_slice(body).map_err(|error| MalformedMessage::Body {
            problem: describe(&error),
        })
    }

    /// Writes a body.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        // Strings and options always serialise; an empty body would be refused on arrival.
        Bytes::from(serde_json::to_vec(self).unwrap_or_default())
    }
}

impl EventContent {
    /// Reads the event as `T`.
    ///
    /// # Errors
    ///
    /// [`UnreadableEvent`] when the event is absent, nested beyond 32 levels or not a `T`; it says
    /// where, without the payload.
    pub fn event<T: DeserializeOwned>(&self) -> Result<T, UnreadableEvent> {
        let json = self.event_json.as_deref().unwrap_or("null");
        let unreadable = |problem| UnreadableEvent {
            event_type: self
                .event_type_id
                .clone()
                .unwrap_or_else(|| "event".to_owned()),
            problem,
        };
        json_depth::check(json.as_bytes()).map_err(|error| unreadable(error.to_string()))?;
        serde_json::from_str(json).map_err(|error| unreadable(describe(&error)))
    }
}

/// Shows the length of the event, never the payload (INB-09).
impl std::fmt::Debug for EventContent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EventContent")
            .field("event_type_id", &self.event_type_id)
            .field(
                "event_json_bytes",
                &self.event_json.as_deref().map(str::len),
            )
            .finish()
    }
}

/// The class and place of a JSON error. Its own text can quote the payload.
pub(crate) fn describe(error: &serde_json::Error) -> String {
    let what = match error.classify() {
        serde_json::error::Category::Io => "unreadable",
        serde_json::error::Category::Syntax => "invalid JSON",
        serde_json::error::Category::Data => "a member is missing or of the wrong type",
        serde_json::error::Category::Eof => "the JSON ends too early",
    };
    format!("{what} at line {} column {}", error.line(), error.column())
}
