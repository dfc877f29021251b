use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::future::ready;
use std::sync::Arc;
use std::task::{Context, Poll};

use serde::de::DeserializeOwned;
use tower_layer::Layer;
use tower_service::Service;

use super::{Answer, HandlerRequest};
use crate::handler::{BoxError, HandlerError};

/// The reason of the dead letter.
const REASON: &str = "InvalidEvent";

type Rule = Arc<dyn Fn(&HandlerRequest) -> Result<(), String> + Send + Sync>;

/// Checks events before their handler sees them.
///
/// A violation is dead-lettered with the reason `InvalidEvent` and the rule's own words, which go to
/// the resolver: they should name what is wrong, and not quote the payload. Events of types without
/// a rule pass.
#[derive(Clone, Default)]
pub struct ValidationLayer(Arc<BTreeMap<String, Vec<Rule>>>);

impl ValidationLayer {
    /// A layer without rules.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a rule for events of this type, which are read as `Ev` for it; one that can't be is a
    /// violation. Rules of one type are asked in order until the first violation.
    #[must_use]
    pub fn with_event<Ev, V>(
        self,
        event_type: &str,
        rule: impl Fn(&Ev) -> Result<(), V> + Send + Sync + 'static,
    ) -> Self
    where
        Ev: DeserializeOwned,
        V: Display,
    {
        self.with_rule(event_type, move |request| {
            let event = request.event().event::<Ev>();
            let event = event.map_err(|unreadable| unreadable.to_string())?;
            rule(&event).map_err(|violation| violation.to_string())
        })
    }

    /// Adds a rule for events of this type that gets the raw JSON.
    #[must_use]
    pub fn with_json<V: Display>(
        self,
        event_type: &str,
        rule: impl Fn(&str) -> Result<(), V> + Send + Sync + 'static,
    ) -> Self {
        self.with_rule(event_type, move |request| {
            rule(request.event_json()).map_err(|violation| violation.to_string())
        })
    }

    fn with_rule(
        mut self,
        event_type: &str,
        rule: impl Fn(&HandlerRequest) -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        let rules = Arc::make_mut(&mut self.0);
        let rules = rules.entry(event_type.to_owned()).or_default();
        rules.push(Arc::new(rule));
        self
    }

    fn check(&self, request: &HandlerRequest) -> Result<(), HandlerError> {
        let rules = self.0.get(request.event_type());
        let mut rules = rules.into_iter().flatten();
        rules
            .try_for_each(|rule| rule(request))
            .map_err(|violation| HandlerError::rejected(REASON, violation))
    }
}

impl fmt::Debug for ValidationLayer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl<S> Layer<S> for ValidationLayer {
    type Service = Validation<S>;

    fn layer(&self, inner: S) -> Validation<S> {
        Validation {
            inner,
            rules: self.clone(),
        }
    }
}

/// The service that [`ValidationLayer`] makes.
#[derive(Debug, Clone)]
pub struct Validation<S> {
    inner: S,
    rules: ValidationLayer,
}

impl<S> Service<HandlerRequest> for Validation<S>
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
        if let Err(violation) = self.rules.check(&request) {
            return Box::pin(ready(Err(violation)));
        }
        let call = self.inner.call(request);
        Box::pin(async move { call.await.map_err(HandlerError::from_service) })
    }
}
