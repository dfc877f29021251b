use std::sync::Arc;

use async_trait::async_trait;
use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxStore, PurgeLimit, Recorded, StoreCapabilities,
    StoreStats, Timestamp,
};

use super::Hold;

/// A store that holds one message before it is recorded.
#[derive(Debug)]
pub(in crate::consumer) struct HoldingStore<S> {
    inner: S,
    hold: Arc<Hold>,
}

impl<S> HoldingStore<S> {
    pub(in crate::consumer) fn new(inner: S, hold: Arc<Hold>) -> Self {
        Self { inner, hold }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: InboxStore> InboxStore for HoldingStore<S> {
    fn provider(&self) -> &'static str {
        self.inner.provider()
    }

    fn capabilities(&self) -> StoreCapabilities {
        self.inner.capabilities()
    }

    async fn verify(&self) -> Result<(), Error> {
        self.inner.verify().await
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        self.inner.check(keys).await
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        let ids = keys.iter().map(|key| key.message_id().as_str());
        self.hold.before_record(ids).await;
        self.inner.record(keys).await
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        self.inner.purge(endpoint, cutoff, limit).await
    }

    async fn stats(&self, endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        self.inner.stats(endpoint).await
    }
}
