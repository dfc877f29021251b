use std::collections::BTreeMap;
use std::sync::Arc;

use nimbus_messaging::EventContent;

use super::routes::{Leaf, Router, Routes};
use super::{HandlerRequest, HandlerService, Layers};
use crate::handler::{HandlerContext, HandlerError, Handlers};

/// The handlers of a subscriber in their layers: those of the endpoint outside, those of an event
/// type inside.
#[derive(Debug)]
pub(crate) struct Pipeline {
    routes: Arc<Routes>,
    /// One service for all event types, so that a limit in it is one limit.
    around_all: Option<HandlerService>,
}

impl Pipeline {
    pub(crate) fn new(
        handlers: Handlers,
        endpoint: Layers,
        by_event_type: BTreeMap<String, Layers>,
    ) -> Self {
        let mut layered = BTreeMap::new();
        for (event_type, layers) in by_event_type {
            if let Some(handler) = handlers.get(&event_type) {
                let leaf = HandlerService::new(Leaf(Arc::clone(handler)));
                layered.insert(event_type, layers.around(leaf));
            }
        }
        let routes = Arc::new(Routes { handlers, layered });
        let around_all = (!endpoint.is_empty())
            .then(|| endpoint.around(HandlerService::new(Router(Arc::clone(&routes)))));
        Self { routes, around_all }
    }

    /// Whether some handler takes events of this type.
    pub(crate) fn handles(&self, event_type: &str) -> bool {
        self.routes.handlers.get(event_type).is_some()
    }

    /// Runs an event through the layers to its handler.
    pub(crate) async fn run(
        &self,
        event: &EventContent,
        context: &HandlerContext,
    ) -> Result<(), HandlerError> {
        match &self.around_all {
            None => self.routes.run(event, context).await,
            Some(service) => {
                let request = HandlerRequest::new(event.clone(), context.clone());
                service.clone().run(request).await
            }
        }
    }
}
