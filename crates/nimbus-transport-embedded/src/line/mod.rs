//! The order of messages in the lanes of a queue. Every change of it is here.

mod accept;
mod enqueue;
mod hold;
mod outlook;
mod scheduled;
mod settle;
mod take;

#[cfg(test)]
mod plans;

pub(crate) use accept::accept;
pub(crate) use enqueue::{Arrival, enqueue};
pub(crate) use hold::{Held, LockToken, release, renew};
pub(crate) use outlook::{lane_outlook, queue_outlook};
pub(crate) use scheduled::{activate, cancel, schedule};
pub(crate) use settle::{Settled, settle, settle_deferred};
pub(crate) use take::{Buried, Taken, Taking, Took, take, take_deferred};
