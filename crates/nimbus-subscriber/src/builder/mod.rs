//! Building a subscriber; every problem of the configuration is found at once.

mod checks;
#[cfg(feature = "config")]
mod configured;
mod layers;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{Clock, InboxSetup, SystemClock};
use nimbus_messaging::{SessionStore, Transport};
use serde::de::DeserializeOwned;

use crate::circuit_breaker::CircuitBreaker;
use crate::cloud_events::{CloudEventMapping, CloudEvents, ContentMode};
use crate::error::SubscriberError;
use crate::handler::{BoxedHandler, EventHandler, HandlerContext, HandlerError, Handlers, erase};
use crate::lifecycle::{Lifecycle, LifecycleObserver};
use crate::middleware::{Layers, Pipeline};
use crate::processor::{Classifiers, FailureClassifier};
use crate::retry::{RandomSource, RetryPolicies, RetryPolicy, RetryRule, SystemRandom};
use crate::running::{Settings, Subscriber};
use crate::telemetry::Spans;

/// Collects what a [`Subscriber`] is made of. [`build`](Self::build) checks it all.
#[derive(Debug)]
#[must_use = "a builder does nothing until `build`"]
pub struct SubscriberBuilder {
    endpoint: String,
    problems: Vec<String>,
    inbox: Option<InboxSetup>,
    #[cfg(feature = "config")]
    transport: Option<Arc<dyn Transport>>,
    session_store: Option<Arc<dyn SessionStore>>,
    cloud_events: CloudEvents,
    handlers: Handlers,
    layers: Layers,
    event_layers: BTreeMap<String, Layers>,
    /// Those that a limit of the configuration names.
    limited_event_types: Vec<String>,
    circuit_breaker: Option<CircuitBreaker>,
    classifiers: Classifiers,
    retries: RetryPolicies,
    lifecycle: Lifecycle,
    spans: Spans,
    clock: Arc<dyn Clock>,
    random: Arc<dyn RandomSource>,
    concurrent_sessions: usize,
    session_idle: Duration,
    drain_deadline: Duration,
}

impl SubscriberBuilder {
    pub(crate) fn new(endpoint: String) -> Self {
        Self {
            endpoint,
            problems: Vec::new(),
            inbox: None,
            #[cfg(feature = "config")]
            transport: None,
            session_store: None,
            cloud_events: CloudEvents::default(),
            handlers: Handlers::default(),
            layers: Layers::default(),
            event_layers: BTreeMap::new(),
            limited_event_types: Vec::new(),
            circuit_breaker: None,
            classifiers: Classifiers::default(),
            retries: RetryPolicies::default(),
            lifecycle: Lifecycle::default(),
            spans: Spans::default(),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            concurrent_sessions: 8,
            session_idle: Duration::from_millis(50),
            drain_deadline: Duration::from_secs(30),
        }
    }

    /// Handles events of this type with an async function.
    ///
    /// An async closure can be passed as long as it borrows nothing; state goes in through
    /// [`handle_with`](Self::handle_with).
    pub fn handle<Ev, F, Fut>(self, event_type: &str, handler: F) -> Self
    where
        Ev: DeserializeOwned + Send + 'static,
        F: Fn(Ev, HandlerContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HandlerError>> + Send + 'static,
    {
        self.add_handler(event_type, erase(handler))
    }

    /// Handles events of this type with an async function that gets a clone of `state`.
    pub fn handle_with<S, Ev, F, Fut>(self, state: S, event_type: &str, handler: F) -> Self
    where
        S: Clone + Send + Sync + 'static,
        Ev: DeserializeOwned + Send + 'static,
        F: Fn(S, Ev, HandlerContext) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<(), HandlerError>> + Send + 'static,
    {
        let handler = erase(move |event, context| handler(state.clone(), event, context));
        self.add_handler(event_type, handler)
    }

    /// Handles events of this type with an [`EventHandler`].
    pub fn handler<H: EventHandler>(self, event_type: &str, handler: H) -> Self {
        let handler = Arc::new(handler);
        let handler = erase(move |event, context| {
            let handler = Arc::clone(&handler);
            async move { handler.handle(event, context).await }
        });
        self.add_handler(event_type, handler)
    }

    fn add_handler(mut self, event_type: &str, handler: BoxedHandler) -> Self {
        if event_type.is_empty() {
            self.problems.push("a handler has no event type".to_owned());
        } else if !self.handlers.add(event_type, handler) {
            self.problems
                .push(format!("events of type {event_type:?} have two handlers"));
        }
        self
    }

    /// Opts in to the inbox: messages whose work succeeded are never run again (INB-29).
    ///
    /// Enabling it fills in nothing for messages that succeeded before (INB-33). There is no other
    /// way in, so that no subscriber can carry an inbox that its dispatch doesn't ask (INB-31).
    pub fn inbox(mut self, setup: InboxSetup) -> Self {
        if self.inbox.replace(setup).is_some() {
            self.problems
                .push("the inbox is configured twice".to_owned());
        }
        self
    }

    /// Keeps session state in this store. Only for a transport that keeps none itself.
    pub fn session_store(mut self, store: Arc<dyn SessionStore>) -> Self {
        self.session_store = Some(store);
        self
    }

    /// Which events this endpoint takes, native ones by default (SUB-06).
    pub fn content_mode(mut self, mode: ContentMode) -> Self {
        self.cloud_events.mode = mode;
        self
    }

    /// How the attributes of CloudEvents become event type, session and correlation.
    pub fn cloud_event_mapping(mut self, mapping: CloudEventMapping) -> Self {
        self.cloud_events.mapping = mapping;
        self
    }

    /// Retries failed events that no more specific policy matches.
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        if self.retries.default.replace(policy).is_some() {
            self.problems
                .push("the default retry policy is set twice".to_owned());
        }
        self
    }

    /// Retries failed events of this type.
    pub fn retry_event(mut self, event_type: &str, policy: RetryPolicy) -> Self {
        let replaced = self
            .retries
            .by_event_type
            .insert(event_type.to_owned(), policy);
        if replaced.is_some() {
            self.problems
                .push(format!("the retry policy of {event_type:?} is set twice"));
        }
        self
    }

    /// Adds a rule that goes before the policies; the first that matches counts.
    pub fn retry_rule(mut self, rule: RetryRule) -> Self {
        self.retries.rules.push(rule);
        self
    }

    /// Adds a judge of handler failures; the first that has an opinion counts (SUB-21).
    pub fn classifier(mut self, classifier: impl FailureClassifier) -> Self {
        self.classifiers.add(Arc::new(classifier));
        self
    }

    /// Adds an observer of what happens to messages (SUB-23).
    pub fn observer(mut self, observer: impl LifecycleObserver) -> Self {
        self.lifecycle.add(observer);
        self
    }

    /// How the span around a message relates to the span that the message was sent from: a link
    /// unless set otherwise (SUB-25).
    #[cfg(feature = "opentelemetry")]
    pub fn inbound_trace(mut self, inbound: crate::telemetry::InboundTrace) -> Self {
        self.spans.inbound = inbound;
        self
    }

    /// How many sessions are worked on at a time, 8 by default; each handles one message at a time.
    pub fn concurrent_sessions(mut self, sessions: usize) -> Self {
        self.concurrent_sessions = sessions;
        self
    }

    /// How long a session without messages is kept while there is room for others, 50 ms by
    /// default.
    pub fn session_idle(mut self, idle: Duration) -> Self {
        self.session_idle = idle;
        self
    }

    /// How long handlers may run on after the stop, 30 s by default.
    pub fn drain_deadline(mut self, deadline: Duration) -> Self {
        self.drain_deadline = deadline;
        self
    }

    /// Replaces the operating system's clock.
    pub fn clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    /// Replaces the source of jitter.
    pub fn random(mut self, random: impl RandomSource) -> Self {
        self.random = Arc::new(random);
        self
    }

    /// Checks everything and makes the subscriber, on this transport.
    ///
    /// # Errors
    ///
    /// A [`SubscriberError`] that holds every problem found.
    pub fn build(self, transport: impl Transport) -> Result<Subscriber, SubscriberError> {
        self.build_on(Arc::new(transport))
    }

    /// As [`build`](Self::build), on a transport that others hold as well.
    ///
    /// # Errors
    ///
    /// A [`SubscriberError`] that holds every problem found.
    pub fn build_on(
        mut self,
        transport: Arc<dyn Transport>,
    ) -> Result<Subscriber, SubscriberError> {
        #[cfg(feature = "config")]
        self.refuse_second_transport();
        let endpoint = self.check(&*transport);
        let Some(endpoint) = endpoint.filter(|_| self.problems.is_empty()) else {
            return Err(SubscriberError::configuration(
                &self.endpoint,
                self.problems,
            ));
        };
        Ok(Subscriber::new(Settings {
            endpoint,
            transport,
            inbox: self.inbox,
            session_store: self.session_store,
            pipeline: Pipeline::new(self.handlers, self.layers, self.event_layers),
            circuit_breaker: self.circuit_breaker,
            cloud_events: self.cloud_events,
            classifiers: self.classifiers,
            retries: self.retries,
            lifecycle: self.lifecycle,
            spans: self.spans,
            clock: self.clock,
            random: self.random,
            concurrent_sessions: self.concurrent_sessions,
            session_idle: self.session_idle,
            drain_deadline: self.drain_deadline,
        }))
    }
}
