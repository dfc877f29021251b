#![doc = include_str!("../README.md")]

mod batching;
mod boundary;
mod cleanup;
mod clock;
#[cfg(feature = "config")]
pub mod config;
mod error;
mod inbox;
mod key;
mod options;
mod registry;
mod store;
pub mod telemetry;
mod timestamp;
#[cfg(feature = "tower")]
mod tower;
mod transactional;

pub use batching::Batching;
pub use cleanup::{CleanupEnd, CleanupReport, CleanupTask};
pub use clock::{Clock, SystemClock};
pub use error::{Error, ErrorKind, Operation};
pub use inbox::{
    AddressScopedInbox, Admission, Claim, CompletionKeys, DuplicateWhen, Handled, Inbox, Processed,
    Routing,
};
pub use key::{EndpointId, IdentityHash, InboxKey, MessageId, UnusableId};
pub use options::InboxOptions;
pub use registry::{InboxSetup, InboxStoreKind, StoreRegistry};
pub use store::{
    Cutoff, InboxStore, InboxStoreExt, PurgeLimit, Recorded, StoreCapabilities, StoreStats,
};
pub use timestamp::{ParseTimestampError, Timestamp};
#[cfg(feature = "tower")]
pub use tower::{InboxLayer, InboxService};
pub use transactional::{BoxFuture, Transactional};
