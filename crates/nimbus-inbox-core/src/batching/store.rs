use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;

use super::item::Item;
use super::lane::Lane;
use super::run::{Run, StoreCall};
use crate::{
    BoxFuture, Cutoff, EndpointId, Error, InboxKey, InboxStore, Operation, PurgeLimit, Recorded,
    StoreCapabilities, StoreStats, Timestamp, Transactional,
};

const MAX_KEYS: NonZeroUsize = NonZeroUsize::new(500).unwrap();

/// A store whose concurrent checks, and concurrent records, share round trips.
///
/// A call goes out at once when none of its operation is in flight; those that arrive meanwhile
/// go together when it returns. A call on its own costs one task switch more and waits for
/// nothing.
///
/// One caller's failure is not another's: when a shared call fails, each caller's keys are sent
/// once more on their own. A caller's keys stay together and in order, and go in one call. So
/// [`atomic_batches`](StoreCapabilities::atomic_batches) is the wrapped store's: where it is
/// `true`, the keys of a caller become durable at once, together with those of others.
///
/// Where it is `false`, a shared call that failed may have recorded some keys; their callers then
/// read [`Recorded::Already`] about a record of their own, as after any unknown outcome.
///
/// A store call runs in a task of its own, so a dropped caller holds nobody up. The call is
/// dropped when all of its callers are. While it hangs, later callers wait: give the wrapped
/// store a bound of its own where that is shorter than that of the [`Inbox`](crate::Inbox).
#[derive(Debug)]
pub struct Batching<S: InboxStore + ?Sized> {
    checks: Lane<Option<Timestamp>>,
    records: Lane<Recorded>,
    store: Arc<S>,
}

impl<S: InboxStore> Batching<S> {
    /// Wraps `store`, with at most 500 keys in a shared call.
    #[must_use]
    pub fn new(store: S) -> Self {
        Self::with_max_keys(store, MAX_KEYS)
    }

    /// Wraps `store`, with at most `max_keys` keys in a shared call. A caller with more of its
    /// own has a call to itself.
    #[must_use]
    pub fn with_max_keys(store: S, max_keys: NonZeroUsize) -> Self {
        Self {
            checks: Lane::new(Operation::Check, max_keys.get()),
            records: Lane::new(Operation::Record, max_keys.get()),
            store: Arc::new(store),
        }
    }
}

impl<S: InboxStore + ?Sized> Batching<S> {
    async fn share<A: Send + 'static>(
        &self,
        lane: &Lane<A>,
        keys: &[InboxKey],
        call: impl FnOnce(Arc<S>) -> StoreCall<A>,
    ) -> Result<Vec<A>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let (item, answer) = Item::new(keys);
        if let Some(worker) = lane.enqueue(item) {
            let run = Run {
                operation: lane.operation(),
                call: call(Arc::clone(&self.store)),
            };
            tokio::spawn(run.until_empty(worker));
        }
        answer.await.unwrap_or_else(|_| {
            Err(Error::transient(
                lane.operation(),
                "the shared store call was cut off, most likely by the end of its runtime",
            )
            .with_provider(self.store.provider()))
        })
    }
}

fn checks<S: InboxStore + ?Sized>(store: Arc<S>) -> StoreCall<Option<Timestamp>> {
    Box::new(move |keys| {
        let store = Arc::clone(&store);
        Box::pin(async move { S::check(&store, &keys).await })
    })
}

fn records<S: InboxStore + ?Sized>(store: Arc<S>) -> StoreCall<Recorded> {
    Box::new(move |keys| {
        let store = Arc::clone(&store);
        Box::pin(async move { S::record(&store, &keys).await })
    })
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<S: InboxStore + ?Sized> InboxStore for Batching<S> {
    fn provider(&self) -> &'static str {
        self.store.provider()
    }

    fn capabilities(&self) -> StoreCapabilities {
        self.store.capabilities()
    }

    async fn verify(&self) -> Result<(), Error> {
        S::verify(&self.store).await
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        self.share(&self.checks, keys, checks).await
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        self.share(&self.records, keys, records).await
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        S::purge(&self.store, endpoint, cutoff, limit).await
    }

    async fn stats(&self, endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        S::stats(&self.store, endpoint).await
    }
}

/// A claim belongs to its handler's transaction and can't be shared; it goes straight through.
#[deny(clippy::missing_trait_methods)]
impl<C, S: Transactional<C> + ?Sized> Transactional<C> for Batching<S> {
    type Lease = S::Lease;
    type Tx<'l> = S::Tx<'l>;

    fn lease<'a>(&'a self, connection: C) -> BoxFuture<'a, Result<Self::Lease, Error>>
    where
        C: 'a,
    {
        self.store.lease(connection)
    }

    fn begin<'a, 'l: 'a>(
        &'a self,
        lease: &'l mut Self::Lease,
    ) -> BoxFuture<'a, Result<Self::Tx<'l>, Error>> {
        self.store.begin(lease)
    }

    fn record_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<Vec<Recorded>, Error>> {
        self.store.record_in(tx, keys)
    }

    fn release_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<(), Error>> {
        self.store.release_in(tx, keys)
    }

    fn commit<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        self.store.commit(tx)
    }

    fn rollback<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        self.store.rollback(tx)
    }
}
