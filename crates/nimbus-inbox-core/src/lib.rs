#![doc = include_str!("../README.md")]

mod boundary;
mod clock;
mod error;
mod inbox;
mod key;
mod options;
mod store;
pub mod telemetry;
mod timestamp;
mod transactional;

pub use clock::{Clock, SystemClock};
pub use error::{Error, ErrorKind, Operation};
pub use inbox::{
    AddressScopedInbox, Admission, Claim, CompletionKeys, DuplicateWhen, Handled, Inbox, Processed,
    Routing,
};
pub use key::{EndpointId, IdentityHash, InboxKey, MessageId, UnusableId};
pub use options::InboxOptions;
pub use store::{Cutoff, InboxStore, InboxStoreExt, PurgeLimit, Recorded, StoreCapabilities};
pub use timestamp::{ParseTimestampError, Timestamp};
pub use transactional::{BoxFuture, Transactional};
