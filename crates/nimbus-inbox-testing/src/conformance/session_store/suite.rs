use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{SessionStore, TransportError};

use super::subject::Subject;
use super::{SESSION_CASES, processes};
use crate::conformance::Namespace;
use crate::conformance::case::Case;

type Opened = BoxFuture<'static, Result<Arc<dyn SessionStore>, TransportError>>;

/// The contract of session stores (SUB-07, SUB-08, SUB-18, SUB-35) as cases against one way of
/// opening a store.
///
/// The factory opens the store of an endpoint in a [`Namespace`]. It is called several times with
/// the same ones, as by several processes, and every store it then returns shares the sessions of
/// the others; other endpoints of the namespace share the tables and no session. Every case has a
/// namespace of its own.
///
/// A transport that keeps the sessions itself runs the cases on one session within
/// [`TransportConformance`](crate::TransportConformance).
#[derive(Clone)]
#[must_use = "a suite runs through `conformance!` or `Conformance`"]
pub struct SessionStoreConformance {
    name: String,
    unavailable: Option<String>,
    time_limit: Duration,
    pub(super) factory: Arc<dyn Fn(Namespace, EndpointId) -> Opened + Send + Sync>,
}

impl SessionStoreConformance {
    /// The suite `name` against the stores that `factory` opens.
    pub fn new<F, Fut, S>(name: impl Into<String>, factory: F) -> Self
    where
        F: Fn(Namespace, EndpointId) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<S, TransportError>> + Send + 'static,
        S: SessionStore,
    {
        Self {
            name: name.into(),
            unavailable: None,
            time_limit: Duration::from_secs(60),
            factory: Arc::new(move |namespace, endpoint| {
                let opened = factory(namespace, endpoint);
                async move { Ok(Arc::new(opened.await?) as Arc<dyn SessionStore>) }.boxed()
            }),
        }
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
        let suite = Arc::new(self);
        let shared = SESSION_CASES.iter().flat_map(|(group, cases)| {
            cases.iter().map(|case| {
                let body = case.body;
                suite.case(group, case.name, move |subject| {
                    async move { body(subject.session("s").await).await }.boxed()
                })
            })
        });
        let alone = processes::CASES.iter();
        let alone = alone.map(|case| suite.case("processes", case.name, case.body));
        shared.chain(alone).collect()
    }

    fn case(
        self: &Arc<Self>,
        group: &str,
        name: &str,
        body: impl FnOnce(Subject) -> BoxFuture<'static, ()> + Send + 'static,
    ) -> Case {
        let suite = Arc::clone(self);
        Case {
            name: format!("{}::{group}::{name}", self.name),
            unavailable: self.unavailable.clone(),
            time_limit: self.time_limit,
            body: Box::new(move || {
                let subject = Subject::new(suite);
                // The subject outlives the case, and with it the namespace.
                async move { body(subject.clone()).await }.boxed()
            }),
        }
    }
}

impl fmt::Debug for SessionStoreConformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionStoreConformance")
            .field("name", &self.name)
            .field("unavailable", &self.unavailable)
            .field("time_limit", &self.time_limit)
            .finish_non_exhaustive()
    }
}
