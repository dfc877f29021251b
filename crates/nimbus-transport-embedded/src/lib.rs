#![doc = include_str!("../README.md")]

mod address;
mod error;
mod inspect;
mod lanes;
mod line;
mod message;
mod options;
mod schema;
mod send;
mod sessions;
#[cfg(feature = "config")]
mod settings;
mod shared;
mod transport;

pub use address::EventFilter;
pub use inspect::{DeadLetter, Inspector, QueueCounts};
/// When a send or a settlement counts as done.
pub use nimbus_sqlite::Durability;
pub use options::EmbeddedOptions;
pub use schema::ddl;
#[cfg(feature = "config")]
pub use settings::EmbeddedSettings;
pub use transport::EmbeddedTransport;

/// Reason of a dead letter that was delivered as often as the
/// [limit](EmbeddedOptions::with_delivery_limit) allows.
pub const MAX_DELIVERY_COUNT_EXCEEDED: &str = "MaxDeliveryCountExceeded";

/// Reason of a dead letter whose row holds properties that this version can't read.
pub const UNREADABLE_MESSAGE: &str = "UnreadableMessage";
