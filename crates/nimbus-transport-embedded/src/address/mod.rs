//! What messages can be sent to: queues, and topics that fan out to queues.

mod queues;
mod route;
mod topics;

pub(crate) use queues::{QueueId, declare, find, names};
pub(crate) use route::{Unroutable, resolve};
pub use topics::EventFilter;
pub(crate) use topics::{declare_topic, subscribe};
