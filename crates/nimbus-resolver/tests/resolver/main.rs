//! The resolver over transports in memory and on disk.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

mod histories;
mod outages;
mod queries;
mod reports;
mod running;
mod support;
