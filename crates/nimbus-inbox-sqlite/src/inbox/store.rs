//! The contract (INB-21 to INB-27).

use std::sync::Arc;

use async_trait::async_trait;
use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxStore, Operation, PurgeLimit, Recorded,
    StoreCapabilities, StoreStats, Timestamp,
};

use super::SqliteInbox;
use crate::error::PROVIDER;

#[async_trait]
impl InboxStore for SqliteInbox {
    fn provider(&self) -> &'static str {
        PROVIDER
    }

    fn capabilities(&self) -> StoreCapabilities {
        StoreCapabilities {
            durable: true,
            shared: true,
            atomic_batches: true,
        }
    }

    async fn verify(&self) -> Result<(), Error> {
        let found = self.tables.look().await;
        found.map_err(|unusable| self.unusable(Operation::Verify, unusable))?;
        let statements = Arc::clone(&self.statements);
        self.database()
            .read(move |snapshot| statements.compile(snapshot))
            .await
            .map_err(|error| self.failed(Operation::Verify, error))
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.ensure(Operation::Check).await?;
        let (statements, keys) = (Arc::clone(&self.statements), keys.to_vec());
        self.database()
            .read(move |snapshot| statements.check(snapshot, &keys))
            .await
            .map_err(|error| self.failed(Operation::Check, error))
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        self.ensure(Operation::Record).await?;
        let (statements, clock) = (Arc::clone(&self.statements), Arc::clone(&self.clock));
        let keys = keys.to_vec();
        self.database()
            .write(move |tx| statements.record(tx, &keys, clock.now()))
            .await
            .map_err(|error| self.failed(Operation::Record, error))
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        self.ensure(Operation::Purge).await?;
        let (statements, clock) = (Arc::clone(&self.statements), Arc::clone(&self.clock));
        let endpoint = endpoint.clone();
        self.database()
            .write(move |tx| {
                let cutoff = cutoff.instant(clock.now());
                statements.purge(tx, &endpoint, cutoff, limit)
            })
            .await
            .map(|removed| u64::try_from(removed).unwrap_or(u64::MAX))
            .map_err(|error| self.failed(Operation::Purge, error))
    }

    async fn stats(&self, endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        self.ensure(Operation::Check).await?;
        let (statements, endpoint) = (Arc::clone(&self.statements), endpoint.clone());
        self.database()
            .read(move |snapshot| statements.stats(snapshot, &endpoint))
            .await
            .map(Some)
            .map_err(|error| self.failed(Operation::Check, error))
    }
}
