use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxStore, PurgeLimit, Recorded, StoreCapabilities,
    StoreStats, Timestamp,
};

use super::StoreCall;

/// A store that counts the calls to the store underneath, also those that fail or are dropped.
///
/// Clones share the counts.
#[derive(Debug, Clone)]
pub struct CountingStore {
    store: Arc<dyn InboxStore>,
    counts: Arc<Mutex<StoreCounts>>,
}

/// What a [`CountingStore`] counted, per operation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreCounts {
    /// Verifications.
    pub verify: CallCount,
    /// Checks.
    pub check: CallCount,
    /// Records.
    pub record: CallCount,
    /// Purges, which hold no keys.
    pub purge: CallCount,
}

/// How often one operation was called, and with how many keys in all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CallCount {
    /// Calls, which for most stores are round trips.
    pub calls: u64,
    /// Keys over all calls.
    pub keys: u64,
}

impl CountingStore {
    /// Wraps `store`, with all counts at zero.
    pub fn new(store: impl InboxStore) -> Self {
        Self {
            store: Arc::new(store),
            counts: Arc::default(),
        }
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> StoreCounts {
        *self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn count(&self, call: StoreCall<'_>) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = match call {
            StoreCall::Verify => &mut counts.verify,
            StoreCall::Check(_) => &mut counts.check,
            StoreCall::Record(_) => &mut counts.record,
            StoreCall::Purge(_) => &mut counts.purge,
            // No transaction goes through here.
            StoreCall::Begin | StoreCall::Commit => return,
        };
        count.calls += 1;
        count.keys += u64::try_from(call.keys().len()).unwrap_or(u64::MAX);
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl InboxStore for CountingStore {
    fn provider(&self) -> &'static str {
        self.store.provider()
    }

    fn capabilities(&self) -> StoreCapabilities {
        self.store.capabilities()
    }

    async fn verify(&self) -> Result<(), Error> {
        self.count(StoreCall::Verify);
        self.store.verify().await
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        self.count(StoreCall::Check(keys));
        self.store.check(keys).await
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        self.count(StoreCall::Record(keys));
        self.store.record(keys).await
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        self.count(StoreCall::Purge(endpoint));
        self.store.purge(endpoint, cutoff, limit).await
    }

    async fn stats(&self, endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        self.store.stats(endpoint).await
    }
}
