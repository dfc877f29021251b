#![doc = include_str!("../README.md")]

mod error;
mod key;
mod report;
mod running;
#[cfg(feature = "config")]
mod settings;
mod state;
mod store;
mod transition;

pub use error::{ResolverError, ResolverErrorKind};
pub use key::{EventKey, Subject};
/// How the file is opened.
pub use nimbus_sqlite::OpenOptions;
pub use report::{Cause, Details, EventIdentity, Report, ReportKind, UnusableReport};
pub use running::{Resolver, ResolverOptions, ResolverReport};
#[cfg(feature = "config")]
pub use settings::ResolverSettings;
pub use state::EventState;
pub use store::{
    Applied, Cursor, EventFilter, EventPage, EventRecord, HistoryEntry, MessageTrace, Purged,
    ResolverStore, StateCount, state_after,
};
