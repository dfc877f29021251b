use std::fmt;

use tower_layer::Layer;
use tower_service::Service;

use super::{HandlerRequest, HandlerService};
use crate::handler::BoxError;

type Wrap = Box<dyn FnOnce(HandlerService) -> HandlerService + Send + Sync>;

/// Layers in the order in which they were added, the outermost first.
#[derive(Default)]
pub(crate) struct Layers(Vec<Wrap>);

impl Layers {
    pub(crate) fn add<L>(&mut self, layer: L)
    where
        L: Layer<HandlerService> + Send + Sync + 'static,
        L::Service: Service<HandlerRequest, Response = (), Error: Into<BoxError>, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        self.0.push(Box::new(move |inner| {
            HandlerService::new(layer.layer(inner))
        }));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Puts all of them around a service.
    pub(super) fn around(self, inner: HandlerService) -> HandlerService {
        self.0
            .into_iter()
            .rev()
            .fold(inner, |inner, wrap| wrap(inner))
    }
}

impl fmt::Debug for Layers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} layers", self.0.len())
    }
}
