use std::collections::BTreeMap;
use std::sync::Arc;
use std::task::{Context, Poll};

use nimbus_messaging::EventContent;
use tower_service::Service;

use super::{Answer, HandlerRequest, HandlerService};
use crate::handler::{BoxedHandler, HandlerContext, HandlerError, Handlers};

/// The handlers, each in the layers of its event type.
#[derive(Debug)]
pub(super) struct Routes {
    pub(super) handlers: Handlers,
    pub(super) layered: BTreeMap<String, HandlerService>,
}

impl Routes {
    /// Runs the handler of an event. Without layers of its type nothing is allocated for it.
    pub(super) async fn run(
        &self,
        event: &EventContent,
        context: &HandlerContext,
    ) -> Result<(), HandlerError> {
        let event_type = context.event_type();
        if let Some(service) = self.layered.get(event_type) {
            let request = HandlerRequest::new(event.clone(), context.clone());
            return service.clone().run(request).await;
        }
        match self.handlers.get(event_type) {
            Some(handler) => begin(handler, event, context.clone())?.await,
            // Whether there is a handler is asked before any middleware runs.
            None => Err(HandlerError::new("no handler takes events of this type")),
        }
    }
}

/// What the layers of all handlers are put around.
#[derive(Debug, Clone)]
pub(super) struct Router(pub(super) Arc<Routes>);

impl Service<HandlerRequest> for Router {
    type Response = ();
    type Error = HandlerError;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), HandlerError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HandlerRequest) -> Answer {
        let routes = Arc::clone(&self.0);
        Box::pin(async move {
            let context = request.context();
            let handoff = HandoffOfSuccess::awaited(context);
            handoff.of(routes.run(request.event(), context).await)
        })
    }
}

/// What the layers of one event type are put around.
#[derive(Clone)]
pub(super) struct Leaf(pub(super) BoxedHandler);

impl Service<HandlerRequest> for Leaf {
    type Response = ();
    type Error = HandlerError;
    type Future = Answer;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), HandlerError>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HandlerRequest) -> Answer {
        let handler = Arc::clone(&self.0);
        Box::pin(async move {
            let context = request.context();
            let handoff = HandoffOfSuccess::awaited(context);
            handoff.of(match begin(&handler, request.event(), context.clone()) {
                Ok(call) => call.await,
                Err(unreadable) => Err(unreadable),
            })
        })
    }
}

/// Reads the event and makes the handler's future.
fn begin(
    handler: &BoxedHandler,
    event: &EventContent,
    context: HandlerContext,
) -> Result<Answer, HandlerError> {
    handler(event, context)
        .map_err(|unreadable| HandlerError::rejected("UnreadableEvent", unreadable.to_string()))
}

/// Forgets what a handler handed off that did not succeed: it failed, panicked, or was dropped. A
/// layer may turn that into success, and must not find it handed off then.
struct HandoffOfSuccess<'c> {
    context: &'c HandlerContext,
    succeeded: bool,
}

impl<'c> HandoffOfSuccess<'c> {
    fn awaited(context: &'c HandlerContext) -> Self {
        Self {
            context,
            succeeded: false,
        }
    }

    fn of(mut self, ended: Result<(), HandlerError>) -> Result<(), HandlerError> {
        self.succeeded = ended.is_ok();
        ended
    }
}

impl Drop for HandoffOfSuccess<'_> {
    fn drop(&mut self) {
        if !self.succeeded {
            self.context.forget_handoff();
        }
    }
}
