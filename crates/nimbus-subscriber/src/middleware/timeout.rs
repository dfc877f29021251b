use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tower_layer::Layer;
use tower_service::Service;

use super::{Answer, HandlerRequest};
use crate::handler::{BoxError, HandlerError};

/// Limits how long one run of a handler may take.
///
/// A handler that takes longer is dropped at its current await, and fails with the error type
/// `timeout`, unclassified: unless a classifier says otherwise it is retried. Nothing is recorded.
/// What layers of the event type wait for counts as time of the handler where this is a layer of
/// all types, so a limit of concurrency goes outside it.
/// A handler that never awaits can't be dropped, and is taken as it returns.
#[derive(Debug, Clone)]
pub struct TimeoutLayer(Arc<Limits>);

#[derive(Debug, Clone)]
struct Limits {
    default: Duration,
    by_event_type: BTreeMap<String, Duration>,
}

impl TimeoutLayer {
    /// The limit of handlers that have none of their own.
    #[must_use]
    pub fn new(limit: Duration) -> Self {
        Self(Arc::new(Limits {
            default: limit,
            by_event_type: BTreeMap::new(),
        }))
    }

    /// The limit of the handler of this event type, in place of the common one; it may be longer.
    #[must_use]
    pub fn with_event(mut self, event_type: &str, limit: Duration) -> Self {
        let limits = Arc::make_mut(&mut self.0);
        limits.by_event_type.insert(event_type.to_owned(), limit);
        self
    }

    fn limit(&self, event_type: &str) -> Duration {
        let own = self.0.by_event_type.get(event_type).copied();
        own.unwrap_or(self.0.default)
    }
}

impl<S> Layer<S> for TimeoutLayer {
    type Service = Timeout<S>;

    fn layer(&self, inner: S) -> Timeout<S> {
        Timeout {
            inner,
            limits: self.clone(),
        }
    }
}

/// The service that [`TimeoutLayer`] makes.
#[derive(Debug, Clone)]
pub struct Timeout<S> {
    inner: S,
    limits: TimeoutLayer,
}

impl<S> Service<HandlerRequest> for Timeout<S>
where
    S: Service<HandlerRequest, Response = (), Error: Into<BoxError>, Future: Send + 'static>,
    S::Error: 'static,
{
    type Response = ();
    type Error = HandlerError;
    type Future = Answer;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), HandlerError>> {
        self.inner
            .poll_ready(context)
            .map_err(HandlerError::from_service)
    }

    fn call(&mut self, request: HandlerRequest) -> Answer {
        let limit = self.limits.limit(request.event_type());
        let call = self.inner.call(request);
        Box::pin(async move {
            match tokio::time::timeout(limit, call).await {
                Ok(ended) => ended.map_err(HandlerError::from_service),
                Err(_) => Err(HandlerError::new(format!(
                    "the handler did not finish within {limit:?}"
                ))
                .with_type("timeout")),
            }
        })
    }
}
