//! Typed handlers of events (SUB-26).

mod claim;
mod context;
mod error;
mod event_handler;
mod handlers;
mod process_in;

pub use context::{HandlerContext, Handoff, PublishError};
pub use error::{FailureClass, HandlerError};
pub use event_handler::EventHandler;

pub(crate) use claim::{Claimed, Claiming};
pub(crate) use context::{ContextParts, Outbound};
pub(crate) use error::BoxError;
pub(crate) use handlers::{BoxedHandler, Handlers, erase};
pub(crate) use process_in::routing;
