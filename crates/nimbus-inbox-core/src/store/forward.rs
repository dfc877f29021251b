use std::sync::Arc;

use async_trait::async_trait;

use super::{Cutoff, InboxStore, PurgeLimit, Recorded, StoreCapabilities, StoreStats};
use crate::{EndpointId, Error, InboxKey, Timestamp};

/// A shared store is a store, so that decorators can wrap one of unknown type.
#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: InboxStore + ?Sized> InboxStore for Arc<S> {
    fn provider(&self) -> &'static str {
        S::provider(self)
    }

    fn capabilities(&self) -> StoreCapabilities {
        S::capabilities(self)
    }

    async fn verify(&self) -> Result<(), Error> {
        S::verify(self).await
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        S::check(self, keys).await
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        S::record(self, keys).await
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        S::purge(self, endpoint, cutoff, limit).await
    }

    async fn stats(&self, endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        S::stats(self, endpoint).await
    }
}
