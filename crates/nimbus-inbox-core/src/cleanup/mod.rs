//! Removing what has outlived its retention (INB-35, INB-36).

mod pass;
mod task;

pub use pass::{CleanupEnd, CleanupReport};
pub use task::CleanupTask;
