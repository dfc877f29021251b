//! Suites that every provider passes, whoever wrote it.

mod answers;
mod case;
mod dropping;
mod macros;
mod namespace;
mod outcome;
mod service;
mod session_store;
mod store;
mod target;
mod transport;
mod watched;

pub use namespace::Namespace;
pub use outcome::{CaseOutcome, CaseResult};
pub use service::ServiceTests;
pub use session_store::SessionStoreConformance;
pub use store::StoreConformance;
pub use target::Conformance;
pub use transport::{DeadLettered, TransportConformance, TransportUnderTest};
