//! The keys that are the subscriber's own; those of providers stand in the same sections.

mod circuit_breaker;
mod inbox;
mod retry;
mod root;
mod timeout;

pub(super) use root::{Root, SubscriberOptions, is_ours};
