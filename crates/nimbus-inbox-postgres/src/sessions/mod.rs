//! State and parked copies of sessions, for transports that keep none (SUB-07, SUB-08, SUB-35).

mod error;
mod rows;
mod schema;
#[cfg(feature = "config")]
mod settings;
mod store;

#[cfg(feature = "config")]
pub use settings::PostgresSessionSettings;
pub use store::PostgresSessions;
