use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxStore, PurgeLimit, Recorded, StoreCapabilities,
    StoreStats, Timestamp,
};

use super::when::Condition;
use super::{Fault, Point, StoreCall, When};
use crate::InMemoryInbox;

/// A store that fails, delays, hangs or panics by script, and else is the store underneath.
///
/// Every rule whose condition a call meets strikes, in the order in which they were set, until
/// one ends the call. Clones share the script. Around a store that can record in the handler's own
/// transaction it can as well.
#[derive(Debug)]
pub struct FaultyStore<S = InMemoryInbox> {
    store: Arc<S>,
    rules: Arc<Mutex<Vec<Arc<Rule>>>>,
}

#[derive(Debug)]
struct Rule {
    condition: Condition,
    fault: Fault,
}

impl<S> Clone for FaultyStore<S> {
    fn clone(&self) -> Self {
        Self {
            store: Arc::clone(&self.store),
            rules: Arc::clone(&self.rules),
        }
    }
}

impl<S: InboxStore> FaultyStore<S> {
    /// Wraps `store`, without any rule.
    pub fn new(store: S) -> Self {
        Self {
            store: Arc::new(store),
            rules: Arc::default(),
        }
    }

    /// Wraps `store` and delays every call by `delay` before its effect and once more after it.
    pub fn delaying(store: S, delay: Duration) -> Self {
        let store = Self::new(store);
        store.inject(When::any(), Fault::delay(delay));
        store.inject(When::any(), Fault::delay(delay).after_effect());
        store
    }

    /// Adds a rule.
    pub fn inject(&self, when: When, fault: Fault) {
        self.rules().push(Arc::new(Rule {
            condition: Condition::new(when),
            fault,
        }));
    }

    /// Removes all rules. Calls that a rule already met are not freed.
    pub fn heal(&self) {
        self.rules().clear();
    }

    fn rules(&self) -> MutexGuard<'_, Vec<Arc<Rule>>> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The store underneath.
    pub(super) fn store(&self) -> &S {
        &self.store
    }

    pub(super) async fn call<T>(
        &self,
        call: StoreCall<'_>,
        effect: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Error> {
        let met: Vec<_> = self
            .rules()
            .iter()
            .filter(|rule| rule.condition.is_met(call))
            .cloned()
            .collect();
        strike(&met, Point::BeforeEffect, call).await?;
        let answer = effect.await?;
        strike(&met, Point::AfterEffect, call).await?;
        Ok(answer)
    }
}

async fn strike(rules: &[Arc<Rule>], point: Point, call: StoreCall<'_>) -> Result<(), Error> {
    for rule in rules.iter().filter(|rule| rule.fault.point() == point) {
        rule.fault.strike(call).await?;
    }
    Ok(())
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: InboxStore> InboxStore for FaultyStore<S> {
    fn provider(&self) -> &'static str {
        self.store.provider()
    }

    fn capabilities(&self) -> StoreCapabilities {
        self.store.capabilities()
    }

    async fn verify(&self) -> Result<(), Error> {
        self.call(StoreCall::Verify, self.store.verify()).await
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        self.call(StoreCall::Check(keys), self.store.check(keys))
            .await
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        self.call(StoreCall::Record(keys), self.store.record(keys))
            .await
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        let effect = self.store.purge(endpoint, cutoff, limit);
        self.call(StoreCall::Purge(endpoint), effect).await
    }

    async fn stats(&self, endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        self.store.stats(endpoint).await
    }
}
