use std::future::Future;

use nimbus_subscriber::{HandlerError, HandlerRequest, HandlerService};
use tower::layer::layer_fn;
use tower::{Layer, Service, service_fn};

/// A layer made of an async function that gets each request and what is further in.
pub(crate) fn around<F, Fut>(
    middleware: F,
) -> impl Layer<HandlerService, Service: Middleware> + Send + Sync + 'static
where
    F: Fn(HandlerRequest, HandlerService) -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = Result<(), HandlerError>> + Send + 'static,
{
    layer_fn(move |inner: HandlerService| {
        let middleware = middleware.clone();
        service_fn(move |request| middleware(request, inner.clone()))
    })
}

/// What a layer of the subscriber has to make.
pub(crate) trait Middleware:
    Service<HandlerRequest, Response = (), Error = HandlerError, Future: Send>
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl<S> Middleware for S where
    S: Service<HandlerRequest, Response = (), Error = HandlerError, Future: Send>
        + Clone
        + Send
        + Sync
        + 'static
{
}
