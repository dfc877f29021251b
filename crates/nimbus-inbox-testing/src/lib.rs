#![doc = include_str!("../README.md")]

mod clock;
mod store;

pub use clock::{ManualClock, TokioClock};
pub use store::InMemoryInbox;
