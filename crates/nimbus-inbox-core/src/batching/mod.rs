//! Sharing round trips among concurrent callers ("natural batching").

mod item;
mod lane;
mod run;
mod store;

pub use store::Batching;
