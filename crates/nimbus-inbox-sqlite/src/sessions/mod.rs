//! State and parked copies of sessions, for transports that keep none (SUB-07, SUB-08, SUB-35).

mod envelope;
mod error;
mod parked;
mod schema;
mod state;
mod store;

pub use store::SqliteSessions;
