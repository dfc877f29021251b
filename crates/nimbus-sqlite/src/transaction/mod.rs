//! A transaction that a caller holds across awaits.

mod handle;
mod thread;

pub use handle::TransactionHandle;
pub(crate) use thread::{Begin, serve};
