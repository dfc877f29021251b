//! State and parked copies of sessions, for transports that keep none (SUB-07, SUB-08, SUB-35).

mod error;
mod parked;
mod schema;
#[cfg(feature = "config")]
mod settings;
mod state;
mod store;

#[cfg(feature = "config")]
pub use settings::SqliteSessionSettings;
pub use store::SqliteSessions;
