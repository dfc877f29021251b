#![doc = include_str!("../README.md")]

mod connection;
mod error;
mod inbox;
mod instant;
mod options;
mod pool;
mod schema;
mod table;
mod tables;
mod text;
mod transaction;

pub use connection::{PostgresConnection, TlsMode};
/// The drivers whose types stand in this crate's signatures.
pub use deadpool_postgres;
pub use inbox::PostgresInbox;
pub use options::PostgresInboxOptions;
pub use tokio_postgres;
pub use transaction::{PostgresLease, PostgresTransaction};
