#![doc = include_str!("../README.md")]

mod clock;
mod error;
mod key;
mod store;
mod timestamp;

pub use clock::{Clock, SystemClock};
pub use error::{Error, ErrorKind, Operation};
pub use key::{EndpointId, IdentityHash, InboxKey, MessageId, UnusableId};
pub use store::{Cutoff, InboxStore, InboxStoreExt, PurgeLimit, Recorded, StoreCapabilities};
pub use timestamp::{ParseTimestampError, Timestamp};
