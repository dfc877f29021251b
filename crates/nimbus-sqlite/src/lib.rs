#![doc = include_str!("../README.md")]

mod classify;
mod database;
mod error;
mod gate;
mod lock;
mod open;
mod options;
mod queue;
mod readers;
mod schema;
mod shared;
mod site;
mod stats;
mod step;
mod transaction;
mod worker;
mod writer;

pub use database::Database;
pub use error::{ErrorKind, SqliteError};
pub use options::{Durability, OpenOptions};
/// The driver, for closures that name its types: whatever a [`Database`] hands
/// out must be used with this very version.
pub use rusqlite;
pub use schema::Schema;
pub use stats::Stats;
pub use transaction::TransactionHandle;
