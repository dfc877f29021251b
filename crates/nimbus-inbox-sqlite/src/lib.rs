#![doc = include_str!("../README.md")]

mod error;
mod inbox;
mod options;
mod schema;
mod table;
mod transaction;

pub use inbox::SqliteInbox;
/// The file and what is done with it, for programs that share it with the inbox.
pub use nimbus_sqlite::{Database, Durability, OpenOptions, TransactionHandle};
pub use options::SqliteInboxOptions;
