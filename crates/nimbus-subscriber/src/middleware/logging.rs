use std::task::{Context, Poll};

use tokio::time::Instant;
use tower_layer::Layer;
use tower_service::Service;

use super::{Answer, HandlerRequest};
use crate::handler::{BoxError, HandlerContext, HandlerError};

/// Logs the start of each run of a handler at debug, and its end with duration and outcome: a
/// success at info, anything else at warning.
///
/// Of a failure it names the kind and the class that the handler gave it. Neither the payload nor
/// an error's text, which may quote it, is ever in these lines.
#[derive(Debug, Clone, Copy, Default)]
pub struct LoggingLayer;

impl<S> Layer<S> for LoggingLayer {
    type Service = Logging<S>;

    fn layer(&self, inner: S) -> Logging<S> {
        Logging { inner }
    }
}

/// The service that [`LoggingLayer`] makes.
#[derive(Debug, Clone)]
pub struct Logging<S> {
    inner: S,
}

impl<S> Service<HandlerRequest> for Logging<S>
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
        let run = Run::begin(request.context().clone());
        let call = self.inner.call(request);
        Box::pin(async move {
            let ended = call.await.map_err(HandlerError::from_service);
            run.end(&ended);
            ended
        })
    }
}

/// A run that has begun. Dropped before its end, it says so.
struct Run {
    context: HandlerContext,
    begun: Instant,
    ended: bool,
}

impl Run {
    fn begin(context: HandlerContext) -> Self {
        tracing::debug!(
            endpoint = %context.endpoint(),
            event_type = context.event_type(),
            event_id = context.event_id().map(|id| id.as_str()),
            message_id = context.message_id(),
            session_id = context.session_id(),
            retry_count = context.retry_count(),
            delivery_count = context.delivery_count(),
            "a handler begins"
        );
        Self {
            context,
            begun: Instant::now(),
            ended: false,
        }
    }

    fn end(mut self, ended: &Result<(), HandlerError>) {
        self.ended = true;
        match ended {
            Ok(()) => tracing::info!(
                endpoint = %self.context.endpoint(),
                event_type = self.context.event_type(),
                event_id = self.context.event_id().map(|id| id.as_str()),
                session_id = self.context.session_id(),
                outcome = "succeeded",
                duration = ?self.begun.elapsed(),
                "a handler ended"
            ),
            Err(error) => self.warn("failed", Some(error)),
        }
    }

    fn warn(&self, outcome: &str, error: Option<&HandlerError>) {
        tracing::warn!(
            endpoint = %self.context.endpoint(),
            event_type = self.context.event_type(),
            event_id = self.context.event_id().map(|id| id.as_str()),
            session_id = self.context.session_id(),
            outcome,
            error_type = error.map(HandlerError::error_type),
            class = error.and_then(HandlerError::class).map(tracing::field::debug),
            duration = ?self.begun.elapsed(),
            "a handler ended"
        );
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        if !self.ended {
            let panics = std::thread::panicking();
            self.warn(if panics { "panicked" } else { "dropped" }, None);
        }
    }
}
