//! What each message type does: one file per type, and what they share.

mod attempt;
mod block;
mod claimed;
mod classify;
mod continuation_request;
mod dispatch;
mod drain;
mod duplicate;
mod event_request;
mod failure;
mod handoff_completed;
mod handoff_failed;
mod interruption;
mod move_to_session;
mod observed;
mod only_from;
mod park;
mod postpone;
mod process_deferred;
mod read;
mod received;
mod release;
mod resubmission_request;
mod retry_request;
mod schedule_retry;
mod services;
mod set_aside;
mod settle;
mod skip_request;
mod success;

pub use classify::FailureClassifier;

pub(crate) use classify::Classifiers;
pub(crate) use event_request::HEARTBEAT;
pub(crate) use interruption::{Interruption, MALFORMED, bounded};
pub(crate) use received::{Interrupts, Received};
pub(crate) use services::Services;
pub(crate) use settle::{Settled, process_and_settle};
