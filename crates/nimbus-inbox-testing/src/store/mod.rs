//! The store in memory.

mod in_memory;

pub use in_memory::InMemoryInbox;
