#![doc = include_str!("../README.md")]

mod error;
mod inbox;
mod options;
mod schema;
#[cfg(feature = "sessions")]
mod sessions;
#[cfg(feature = "config")]
mod settings;
mod table;
mod tables;
mod transaction;

pub use inbox::SqliteInbox;
/// The file and what is done with it, for programs that share it with the inbox, and the driver
/// whose types their closures name.
pub use nimbus_sqlite::{
    Database, Durability, OpenOptions, SqliteError, TransactionHandle, rusqlite,
};
pub use options::SqliteInboxOptions;
#[cfg(all(feature = "config", feature = "sessions"))]
pub use sessions::SqliteSessionSettings;
#[cfg(feature = "sessions")]
pub use sessions::SqliteSessions;
#[cfg(feature = "config")]
pub use settings::SqliteInboxSettings;
