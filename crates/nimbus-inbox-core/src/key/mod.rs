//! What the inbox keys on: a validated endpoint, a validated message id, and their hash.

mod endpoint;
mod identity;
mod inbox_key;
mod limits;
mod message_id;
mod opaque;

pub use endpoint::EndpointId;
pub use identity::IdentityHash;
pub use inbox_key::InboxKey;
pub use limits::UnusableId;
pub use message_id::MessageId;
