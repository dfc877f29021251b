//! The store in memory.

mod in_memory;
mod transaction;

pub use in_memory::InMemoryInbox;
pub use transaction::InMemoryTransaction;
