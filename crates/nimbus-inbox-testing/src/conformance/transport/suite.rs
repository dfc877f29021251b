use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use nimbus_messaging::TransportError;

use super::subject::Subject;
use super::under_test::{Facts, TransportUnderTest};
use super::{CASES, TransportCase};
use crate::conformance::Namespace;
use crate::conformance::case::Case;
use crate::conformance::session_store::{SESSION_CASES, SessionBody, SessionCase};
use crate::conformance::watched::watched;

type Connecting = BoxFuture<'static, Result<TransportUnderTest, TransportError>>;

/// The transport contract (SUB-33, with SUB-08, SUB-18 and SUB-35 for session state) as cases against
/// one way of connecting to a broker.
///
/// The factory connects to a broker in a [`Namespace`]. It is called several times with the same
/// one, and every transport it then returns reaches the same broker as another process would. Every
/// case has a namespace of its own, and names its endpoints after it, so that namespaces may share
/// a broker. An endpoint is declared by
/// [`verify`](nimbus_messaging::Transport::verify).
///
/// Which cases there are depends on the transport's
/// [capabilities](nimbus_messaging::TransportCapabilities) and on what the factory adds to the
/// [`TransportUnderTest`]. The suite takes every lane for one session unless the factory says that
/// [lanes are shared](TransportUnderTest::with_shared_lanes).
#[derive(Clone)]
#[must_use = "a suite runs through `transport_conformance!` or `Conformance`"]
pub struct TransportConformance {
    name: String,
    unavailable: Option<String>,
    time_limit: Duration,
    pub(super) factory: Arc<dyn Fn(Namespace) -> Connecting + Send + Sync>,
}

/// What a case needs beyond a transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    SessionStore,
    NoSessionStore,
    ScheduledSend,
    NoScheduledSend,
    CancelScheduled,
    Deferral,
    NoDeferral,
    DeadLetters,
    DeliveryLimit,
    Cut,
    SessionLanes,
    SharedLanes,
}

impl TransportConformance {
    /// The suite `name` against the brokers that `factory` connects to.
    pub fn new<F, Fut>(name: impl Into<String>, factory: F) -> Self
    where
        F: Fn(Namespace) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<TransportUnderTest, TransportError>> + Send + 'static,
    {
        Self {
            name: name.into(),
            unavailable: None,
            time_limit: Duration::from_secs(60),
            factory: Arc::new(move |namespace| factory(namespace).boxed()),
        }
    }

    /// Lists every case as ignored, because what the transport needs is not there.
    ///
    /// Begin the reason with the service's name, as in `rabbitmq: no server on port 5672`.
    pub fn unavailable(mut self, reason: impl Into<String>) -> Self {
        self.unavailable = Some(reason.into());
        self
    }

    /// How long one case may take before it counts as hung; 60 seconds if not set.
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    pub(in crate::conformance) fn into_cases(self) -> Vec<Case> {
        let facts = match self.unavailable {
            Some(_) => None,
            None => self.probe(),
        };
        let suite = Arc::new(self);
        let own = CASES.iter().flat_map(|(group, cases)| {
            let run = |case: &TransportCase| (case.name, case.need, Body::Subject(case.body));
            cases.iter().map(move |case| (group, run(case)))
        });
        let shared = SESSION_CASES.iter().flat_map(|(group, cases)| {
            let run =
                |case: &SessionCase| (case.name, Need::SessionStore, Body::Session(case.body));
            cases.iter().map(move |case| (group, run(case)))
        });
        own.chain(shared)
            // Without an answer a case stays: it fails like all the others.
            .filter(|(_, (_, need, _))| facts.is_none_or(|facts| need.is_met(facts)))
            .map(|(group, (name, _, body))| {
                let suite = Arc::clone(&suite);
                Case {
                    name: format!("{}::{group}::{name}", suite.name),
                    unavailable: suite.unavailable.clone(),
                    time_limit: suite.time_limit,
                    body: Box::new(move || {
                        let subject = Subject::new(suite);
                        // The subject outlives the case, and with it the namespace.
                        async move { body.run(subject.clone()).await }.boxed()
                    }),
                }
            })
            .collect()
    }

    /// Asks a transport what it can do; `None` when the factory could not connect one.
    fn probe(&self) -> Option<Facts> {
        let factory = Arc::clone(&self.factory);
        let probe = || async move {
            let connected = factory(Namespace::unique()).await.ok()?;
            Some(connected.facts())
        };
        watched(self.time_limit, || probe().boxed()).ok().flatten()
    }
}

/// What runs as a case.
#[derive(Clone, Copy)]
enum Body {
    Subject(fn(Subject) -> BoxFuture<'static, ()>),
    Session(SessionBody),
}

impl Body {
    async fn run(self, subject: Subject) {
        match self {
            Self::Subject(body) => body(subject).await,
            Self::Session(body) => {
                let process = subject.connect().await;
                let endpoint = process.declare("Billing").await;
                let (_lane, held) = process.hold_session(&endpoint, "s").await;
                body(held).await;
            }
        }
    }
}

impl Need {
    fn is_met(self, facts: Facts) -> bool {
        let can = facts.capabilities;
        match self {
            Self::Nothing => true,
            Self::SessionStore => can.session_store,
            Self::NoSessionStore => !can.session_store,
            Self::ScheduledSend => can.scheduled_send,
            Self::NoScheduledSend => !can.scheduled_send,
            Self::CancelScheduled => can.scheduled_send && can.cancel_scheduled,
            Self::Deferral => can.deferral,
            Self::NoDeferral => !can.deferral,
            Self::DeadLetters => facts.dead_letters,
            Self::DeliveryLimit => facts.dead_letters && facts.delivery_limit,
            Self::Cut => facts.cut,
            Self::SessionLanes => !facts.shared_lanes,
            Self::SharedLanes => facts.shared_lanes,
        }
    }
}

impl fmt::Debug for TransportConformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportConformance")
            .field("name", &self.name)
            .field("unavailable", &self.unavailable)
            .field("time_limit", &self.time_limit)
            .finish_non_exhaustive()
    }
}
