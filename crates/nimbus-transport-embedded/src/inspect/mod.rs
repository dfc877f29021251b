//! Looking into the queues, for tools and tests.

mod aside;
mod counts;
mod directory;
mod inspector;
mod line;

pub use aside::DeadLetter;
pub use counts::QueueCounts;
pub(crate) use directory::EmbeddedDirectory;
pub use inspector::Inspector;
