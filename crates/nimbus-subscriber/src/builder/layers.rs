use std::time::Duration;

use tower_layer::Layer;
use tower_service::Service;

use super::SubscriberBuilder;
use crate::circuit_breaker::CircuitBreaker;
use crate::handler::BoxError;
use crate::middleware::{HandlerRequest, HandlerService, TimeoutLayer};

impl SubscriberBuilder {
    /// Puts a layer around the handlers of all event types (SUB-23). The first added is the
    /// outermost, as in `tower::ServiceBuilder`.
    ///
    /// It runs after the inbox was asked and the session found free, and before the record: once
    /// for each attempt, and never for a duplicate that the inbox finds, for a message that is
    /// parked, or for an event that has no handler. What the outermost layer returns decides: `Ok`
    /// is a success, recorded and reported; an error is the handler's failure, as is a panic in a
    /// layer. It is dropped where a handler would be.
    ///
    /// Each message gets a clone of the service that the layer makes, as `tower` has it, and waits
    /// until that is ready. A service that can't be cloned goes behind `tower::buffer`. A handler's
    /// own error passes through layers that know only boxed errors as it is.
    pub fn layer<L>(mut self, layer: L) -> Self
    where
        L: Layer<HandlerService> + Send + Sync + 'static,
        L::Service: Service<HandlerRequest, Response = (), Error: Into<BoxError>, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        self.layers.add(layer);
        self
    }

    /// As [`layer`](Self::layer), around the handler of one event type only, inside the layers of
    /// all types.
    pub fn layer_event<L>(mut self, event_type: &str, layer: L) -> Self
    where
        L: Layer<HandlerService> + Send + Sync + 'static,
        L::Service: Service<HandlerRequest, Response = (), Error: Into<BoxError>, Future: Send>
            + Clone
            + Send
            + Sync
            + 'static,
    {
        let layers = self.event_layers.entry(event_type.to_owned());
        layers.or_default().add(layer);
        self
    }

    /// Stops receiving while handlers fail too often (SUB-23).
    ///
    /// It is no layer with a place among the others, since it judges how a run ended in the end:
    /// after the classifiers, whatever layer the failure came from. While it is open nothing is
    /// received, so that an outage does not use up the delivery counts of messages, and
    /// [readiness](crate::Health::readiness) says so. Then one message at a time is tried.
    pub fn circuit_breaker(mut self, breaker: CircuitBreaker) -> Self {
        self.problems.extend(breaker.problems());
        if self.circuit_breaker.replace(breaker).is_some() {
            self.problems
                .push("the circuit breaker is set twice".to_owned());
        }
        self
    }

    /// Limits each run of a handler: a [`TimeoutLayer`] in this place. One with limits of its own
    /// for some event types is added with [`layer`](Self::layer).
    pub fn timeout(mut self, limit: Duration) -> Self {
        if limit.is_zero() {
            self.problems
                .push("handlers get no time at all; give them at least a moment".to_owned());
        }
        self.layer(TimeoutLayer::new(limit))
    }
}
