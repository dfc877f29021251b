//! Looking into the queues, for tools and tests.

mod aside;
mod counts;
mod inspector;
mod line;

pub use aside::DeadLetter;
pub use counts::QueueCounts;
pub use inspector::Inspector;
