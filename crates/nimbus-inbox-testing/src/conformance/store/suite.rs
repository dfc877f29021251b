use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use nimbus_inbox_core::{Error, InboxStore, StoreCapabilities};

use super::CASES;
use super::subject::Subject;
use crate::ManualClock;
use crate::conformance::Namespace;
use crate::conformance::case::Case;
use crate::conformance::watched::watched;

pub(super) type Opened = BoxFuture<'static, Result<Arc<dyn InboxStore>, Error>>;

/// The store contract (INB-21 to INB-28) as cases against one way of opening a store.
///
/// The factory opens a store in a [`Namespace`]. It is called several times with the same one and
/// every store it then returns shares the records of the others: a path in the namespace's
/// directory, a table or schema of its name, or for records in the process a
/// [shared value](Namespace::shared). Every case has a namespace of its own.
///
/// Which cases there are depends on the store's
/// [capabilities](nimbus_inbox_core::InboxStore::capabilities) and on the optional factories. A
/// store's clock must run: cases wait for it to pass, if only by its smallest step.
#[derive(Clone)]
#[must_use = "a suite runs through `conformance!` or `Conformance`"]
pub struct StoreConformance {
    name: String,
    unavailable: Option<String>,
    time_limit: Duration,
    pub(super) factory: Arc<dyn Fn(Namespace) -> Opened + Send + Sync>,
    pub(super) with_clock: Option<Arc<dyn Fn(Namespace, ManualClock) -> Opened + Send + Sync>>,
    pub(super) misconfigured: Option<Arc<dyn Fn(Namespace) -> Opened + Send + Sync>>,
}

/// What a case needs beyond a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    Nothing,
    Durability,
    ClientClock,
    Misconfiguration,
}

impl StoreConformance {
    /// The suite `name` against the stores that `factory` opens.
    pub fn new<F, Fut, S>(name: impl Into<String>, factory: F) -> Self
    where
        F: Fn(Namespace) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<S, Error>> + Send + 'static,
        S: InboxStore,
    {
        Self {
            name: name.into(),
            unavailable: None,
            time_limit: Duration::from_secs(60),
            factory: Arc::new(move |namespace| erase(factory(namespace))),
            with_clock: None,
            misconfigured: None,
        }
    }

    /// Adds the cases about a client whose clock is wrong, for stores opened with that clock.
    ///
    /// Whether the store stamps its records with it or with the clock of its server, a record is
    /// as old as the time that passed.
    pub fn with_client_clock<F, Fut, S>(mut self, factory: F) -> Self
    where
        F: Fn(Namespace, ManualClock) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<S, Error>> + Send + 'static,
        S: InboxStore,
    {
        self.with_clock = Some(Arc::new(move |namespace, clock| {
            erase(factory(namespace, clock))
        }));
        self
    }

    /// Adds the cases about a store that is set up wrongly: wrong credentials, a file of another
    /// program, a missing table that may not be created.
    ///
    /// The factory opens one, or fails itself.
    pub fn with_misconfigured<F, Fut, S>(mut self, factory: F) -> Self
    where
        F: Fn(Namespace) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<S, Error>> + Send + 'static,
        S: InboxStore,
    {
        self.misconfigured = Some(Arc::new(move |namespace| erase(factory(namespace))));
        self
    }

    /// Lists every case as ignored, because what the store needs is not there.
    ///
    /// Begin the reason with the service's name, as in `postgres: no server on port 5432`.
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
        let capabilities = match self.unavailable {
            Some(_) => None,
            None => self.probe(),
        };
        let suite = Arc::new(self);
        CASES
            .iter()
            .flat_map(|(group, cases)| cases.iter().map(move |case| (group, case)))
            .filter(|(_, case)| suite.applies(case.need, capabilities))
            .map(|(group, case)| {
                let (body, suite) = (case.body, Arc::clone(&suite));
                Case {
                    name: format!("{}::{group}::{}", suite.name, case.name),
                    unavailable: suite.unavailable.clone(),
                    time_limit: suite.time_limit,
                    body: Box::new(move || {
                        let subject = Subject::new(suite);
                        // The subject outlives the case, and with it the namespace.
                        async move { body(subject.clone()).await }.boxed()
                    }),
                }
            })
            .collect()
    }

    fn applies(&self, need: Need, capabilities: Option<StoreCapabilities>) -> bool {
        match need {
            Need::Nothing => true,
            // Without an answer the case stays: it fails like all the others.
            Need::Durability => capabilities.is_none_or(|known| known.durable),
            Need::ClientClock => self.with_clock.is_some(),
            Need::Misconfiguration => self.misconfigured.is_some(),
        }
    }

    /// Asks a store what it can promise; `None` when none could be opened.
    fn probe(&self) -> Option<StoreCapabilities> {
        let factory = Arc::clone(&self.factory);
        let probe = || async move {
            let store = factory(Namespace::unique()).await.ok()?;
            Some(store.capabilities())
        };
        watched(self.time_limit, || probe().boxed()).ok().flatten()
    }
}

fn erase<S: InboxStore>(opened: impl Future<Output = Result<S, Error>> + Send + 'static) -> Opened {
    async move { Ok(Arc::new(opened.await?) as Arc<dyn InboxStore>) }.boxed()
}

impl fmt::Debug for StoreConformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreConformance")
            .field("name", &self.name)
            .field("unavailable", &self.unavailable)
            .field("time_limit", &self.time_limit)
            .finish_non_exhaustive()
    }
}
