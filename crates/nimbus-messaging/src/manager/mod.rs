//! What operators ask of an endpoint (SUB-28).

mod client;
mod error;
mod reference;

pub use client::ManagerClient;
pub use error::{ManagerError, ManagerErrorKind};
pub use reference::EventReference;
