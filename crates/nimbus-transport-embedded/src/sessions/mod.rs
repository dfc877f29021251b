//! State and parked copies of sessions (SUB-07, SUB-08, SUB-35).

mod parked;
mod state;
mod store;

pub(crate) use parked::list as parked;
pub(crate) use state::{read as stored_state, versioned};
pub(crate) use store::EmbeddedSessions;
