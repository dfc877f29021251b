#![doc = include_str!("../README.md")]

mod connection;
mod error;
mod inbox;
mod instant;
mod options;
mod pool;
mod schema;
#[cfg(feature = "sessions")]
mod sessions;
#[cfg(feature = "config")]
mod settings;
mod table;
mod tables;
mod text;
mod transaction;

pub use connection::{PostgresConnection, TlsMode};
/// The drivers whose types stand in this crate's signatures.
pub use deadpool_postgres;
pub use inbox::PostgresInbox;
pub use options::PostgresInboxOptions;
#[cfg(all(feature = "config", feature = "sessions"))]
pub use sessions::PostgresSessionSettings;
#[cfg(feature = "sessions")]
pub use sessions::PostgresSessions;
#[cfg(feature = "config")]
pub use settings::PostgresInboxSettings;
pub use tokio_postgres;
pub use transaction::{PostgresLease, PostgresTransaction};
#[cfg(feature = "sqlx")]
pub use transaction::{SqlxLease, SqlxTransaction};
