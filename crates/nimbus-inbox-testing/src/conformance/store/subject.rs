//! The store under test, with answers that a case can rely on.

use std::error::Error as _;
use std::fmt::Write as _;
use std::future::Future;
use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxStore, PurgeLimit, Recorded, Timestamp,
};

use super::suite::{Opened, StoreConformance};
use crate::conformance::Namespace;
use crate::{ManualClock, key};

/// One case's namespace and the ways to open stores in it.
#[derive(Clone)]
pub(super) struct Subject {
    suite: Arc<StoreConformance>,
    namespace: Namespace,
}

impl Subject {
    pub(super) fn new(suite: Arc<StoreConformance>) -> Self {
        Self {
            suite,
            namespace: Namespace::unique(),
        }
    }

    /// The same ways to open stores, on other records.
    pub(super) fn elsewhere(&self) -> Self {
        Self::new(Arc::clone(&self.suite))
    }

    /// A store on the case's records.
    pub(super) async fn open(&self) -> Store {
        let opened = (self.suite.factory)(self.namespace.clone()).await;
        Store(expect("opening a store", opened))
    }

    /// A store on the case's records whose process's clock is this one.
    pub(super) async fn open_with_clock(&self, clock: ManualClock) -> Store {
        let factory = self.suite.with_clock.as_ref();
        let factory = factory.expect("the case is listed only with a client clock");
        let opened = factory(self.namespace.clone(), clock).await;
        Store(expect("opening a store with a client clock", opened))
    }

    /// A store that can't serve, or why it could not even be opened.
    pub(super) fn open_misconfigured(&self) -> Opened {
        let factory = self.suite.misconfigured.as_ref();
        factory.expect("the case is listed only with a misconfigured store")(self.namespace.clone())
    }
}

/// A store whose calls must succeed and answer every key.
#[derive(Debug, Clone)]
pub(super) struct Store(pub(super) Arc<dyn InboxStore>);

impl Store {
    pub(super) async fn check(&self, keys: &[InboxKey]) -> Vec<Option<Timestamp>> {
        let answers = expect("a check", self.0.check(keys).await);
        assert_eq!(answers.len(), keys.len(), "a check must answer every key");
        answers
    }

    pub(super) async fn check_one(&self, key: &InboxKey) -> Option<Timestamp> {
        self.check(std::slice::from_ref(key)).await[0]
    }

    /// The creation time of a key that must be there.
    pub(super) async fn created_at(&self, key: &InboxKey) -> Timestamp {
        self.check_one(key)
            .await
            .unwrap_or_else(|| panic!("no record of {key:?}, which was recorded"))
    }

    pub(super) async fn record(&self, keys: &[InboxKey]) -> Vec<Recorded> {
        let answers = expect("a record", self.0.record(keys).await);
        assert_eq!(answers.len(), keys.len(), "a record must answer every key");
        answers
    }

    pub(super) async fn record_one(&self, key: &InboxKey) -> Recorded {
        self.record(std::slice::from_ref(key)).await[0]
    }

    pub(super) async fn purge(&self, endpoint: &str, cutoff: Cutoff, limit: u32) -> u64 {
        let removed = self.0.purge(&named(endpoint), cutoff, bound(limit)).await;
        let removed = expect("a purge", removed);
        assert!(
            removed <= u64::from(limit),
            "a purge of at most {limit} records removed {removed}"
        );
        removed
    }

    /// Purges until nothing older than `cutoff` is left, however few a call removes.
    pub(super) async fn purge_all(&self, endpoint: &str, cutoff: Cutoff) -> u64 {
        let mut removed = 0;
        loop {
            match self.purge(endpoint, cutoff, PurgeLimit::MAX.get()).await {
                0 => return removed,
                some => removed += some,
            }
        }
    }

    pub(super) async fn verify(&self) {
        expect("verifying the store", self.0.verify().await);
    }

    /// Waits until the store stamps its records later than `instant`, and returns such a time.
    pub(super) async fn pass(&self, instant: Timestamp) -> Timestamp {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let tick = key("Ticks", &format!("tick-{number}"));
            self.record_one(&tick).await;
            let now = self.created_at(&tick).await;
            if now > instant {
                return now;
            }
            tokio::task::yield_now().await;
        }
    }
}

pub(super) fn named(endpoint: &str) -> EndpointId {
    EndpointId::new(endpoint).expect("the suite names usable endpoints")
}

pub(super) fn bound(limit: u32) -> PurgeLimit {
    PurgeLimit::new(limit).expect("the suite purges within the limits")
}

/// Keys of one endpoint with ids of their own.
pub(super) fn keys(endpoint: &str, prefix: &str, count: usize) -> Vec<InboxKey> {
    (0..count)
        .map(|number| key(endpoint, &format!("{prefix}-{number}")))
        .collect()
}

/// Runs all of them at once, on all workers, and fails with the first that fails.
pub(super) async fn at_once<F>(calls: impl IntoIterator<Item = F>) -> Vec<F::Output>
where
    F: Future<Output: Send> + Send + 'static,
{
    let tasks: Vec<_> = calls.into_iter().map(tokio::spawn).collect();
    let mut answers = Vec::with_capacity(tasks.len());
    for task in tasks {
        match task.await {
            Ok(answer) => answers.push(answer),
            Err(stopped) => resume_unwind(stopped.into_panic()),
        }
    }
    answers
}

/// The value, or a failure with the whole chain of causes.
pub(super) fn expect<T>(what: &str, result: Result<T, Error>) -> T {
    result.unwrap_or_else(|error| {
        let mut text = format!("{what} failed: {error}");
        let mut source = error.source();
        while let Some(cause) = source {
            // Writing to a string can't fail.
            let _ = write!(text, ": {cause}");
            source = cause.source();
        }
        panic!("{text}")
    })
}
