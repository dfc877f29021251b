//! The pipeline of middleware around the handlers, in the shape of `tower` (SUB-23).

mod layers;
mod logging;
mod pipeline;
mod request;
mod routes;
mod service;
mod timeout;
mod validation;

pub use logging::{Logging, LoggingLayer};
pub use request::HandlerRequest;
pub use service::HandlerService;
pub use timeout::{Timeout, TimeoutLayer};
pub use validation::{Validation, ValidationLayer};

pub(crate) use layers::Layers;
pub(crate) use pipeline::Pipeline;

use crate::handler::HandlerError;

/// What a pipeline's services answer with.
type Answer = futures_util::future::BoxFuture<'static, Result<(), HandlerError>>;
