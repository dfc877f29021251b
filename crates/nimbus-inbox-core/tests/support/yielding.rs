//! A store that gives way to other tasks around every effect.

use async_trait::async_trait;
use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxStore, PurgeLimit, Recorded, StoreCapabilities,
    StoreStats, Timestamp,
};
use nimbus_inbox_testing::InMemoryInbox;
use tokio::task::yield_now;

/// Each call suspends twice before its effect and twice after it, so that a test which drops a
/// future at its k-th suspension meets every one of them.
#[derive(Debug)]
pub(crate) struct YieldingStore(pub(crate) InMemoryInbox);

async fn around<T>(effect: impl Future<Output = T>) -> T {
    yield_now().await;
    yield_now().await;
    let outcome = effect.await;
    yield_now().await;
    yield_now().await;
    outcome
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl InboxStore for YieldingStore {
    fn provider(&self) -> &'static str {
        self.0.provider()
    }

    fn capabilities(&self) -> StoreCapabilities {
        self.0.capabilities()
    }

    async fn verify(&self) -> Result<(), Error> {
        around(self.0.verify()).await
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        around(self.0.check(keys)).await
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        around(self.0.record(keys)).await
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        around(self.0.purge(endpoint, cutoff, limit)).await
    }

    async fn stats(&self, endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        around(self.0.stats(endpoint)).await
    }
}
