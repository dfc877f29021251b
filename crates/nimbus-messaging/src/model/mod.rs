//! What the messages mean (SUB-01 to SUB-05).

mod address;
mod caseless;
mod content;
mod event_id;
mod event_request;
mod headers;
mod ids;
pub(crate) mod json_depth;
mod malformed;
mod message_type;
mod transition_id;

pub use address::Address;
pub(crate) use content::describe;
pub use content::{ErrorContent, EventContent, MessageContent, UnreadableEvent};
pub use event_id::EventId;
pub use event_request::EventRequest;
pub use headers::{Headers, TraceContext};
pub use ids::{derived_message_id, random_message_id};
pub use malformed::MalformedMessage;
pub use message_type::MessageType;
pub use transition_id::{TransitionIdError, transition_message_id};
