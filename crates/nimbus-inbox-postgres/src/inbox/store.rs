//! The contract, through shared calls where they are on.

use async_trait::async_trait;
use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxStore, PurgeLimit, Recorded, StoreCapabilities,
    StoreStats, Timestamp,
};

use super::PostgresInbox;

#[async_trait]
impl InboxStore for PostgresInbox {
    fn provider(&self) -> &'static str {
        self.records.provider()
    }

    fn capabilities(&self) -> StoreCapabilities {
        self.records.capabilities()
    }

    async fn verify(&self) -> Result<(), Error> {
        self.records.verify().await
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        match &self.batching {
            Some(shared) => shared.check(keys).await,
            None => self.records.check(keys).await,
        }
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        match &self.batching {
            Some(shared) => shared.record(keys).await,
            None => self.records.record(keys).await,
        }
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        self.records.purge(endpoint, cutoff, limit).await
    }

    async fn stats(&self, endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        self.records.stats(endpoint).await
    }
}
