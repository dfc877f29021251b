use std::fmt;
use std::future::poll_fn;
use std::task::{Context, Poll};

use tower_service::Service;

use super::{Answer, HandlerRequest};
use crate::handler::{BoxError, HandlerError};

/// What a layer is put around: the handler, with the layers that are further in.
///
/// It is always ready where no layer makes it wait. Each message gets a clone of its own.
pub struct HandlerService(Box<dyn Erased>);

/// A service whose type is erased and whose errors are handlers' errors.
trait Erased: Send + Sync {
    fn boxed_clone(&self) -> Box<dyn Erased>;
    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), HandlerError>>;
    fn call(&mut self, request: HandlerRequest) -> Answer;
}

impl<S> Erased for S
where
    S: Service<HandlerRequest, Response = (), Error: Into<BoxError>, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static,
{
    fn boxed_clone(&self) -> Box<dyn Erased> {
        Box::new(self.clone())
    }

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), HandlerError>> {
        Service::poll_ready(self, context).map_err(HandlerError::from_service)
    }

    fn call(&mut self, request: HandlerRequest) -> Answer {
        let answer = Service::call(self, request);
        Box::pin(async move { answer.await.map_err(HandlerError::from_service) })
    }
}

impl HandlerService {
    pub(super) fn new<S>(service: S) -> Self
    where
        S: Service<HandlerRequest, Response = (), Error: Into<BoxError>, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        Self(Box::new(service))
    }

    /// Runs a request once the service is ready for it.
    pub(super) async fn run(mut self, request: HandlerRequest) -> Result<(), HandlerError> {
        poll_fn(|context| self.0.poll_ready(context)).await?;
        self.0.call(request).await
    }
}

impl Service<HandlerRequest> for HandlerService {
    type Response = ();
    type Error = HandlerError;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), HandlerError>> {
        self.0.poll_ready(context)
    }

    fn call(&mut self, request: HandlerRequest) -> Answer {
        self.0.call(request)
    }
}

impl Clone for HandlerService {
    fn clone(&self) -> Self {
        Self(self.0.boxed_clone())
    }
}

impl fmt::Debug for HandlerService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HandlerService")
    }
}
