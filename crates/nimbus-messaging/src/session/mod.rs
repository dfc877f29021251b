//! The state of a session and the store that keeps it (SUB-07, SUB-08, SUB-35).

mod directory;
mod id;
mod parked;
mod state;
mod store;
mod stored;

pub use directory::{SessionDirectory, SessionOverview};
pub use id::SessionId;
pub use parked::{ParkedCopy, ParkedRef};
pub use state::SessionState;
pub use store::{Cas, SessionStore, SessionStoreCapabilities, StateVersion, VersionedState};
