use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxStore, Operation, PurgeLimit, Recorded,
    StoreCapabilities, StoreStats, Timestamp,
};
use tokio::sync::{mpsc, oneshot};

use super::when::Condition;
use super::{Point, StoreCall, When};

/// A store that holds calls at a chosen point until a test lets them go on.
///
/// With it a test knows where a future stands when it drops, aborts or overtakes it. Clones share
/// the gates.
#[derive(Debug, Clone)]
pub struct GateStore {
    store: Arc<dyn InboxStore>,
    gates: Arc<Mutex<Vec<Arc<Barrier>>>>,
}

/// The store's side of a gate.
#[derive(Debug)]
struct Barrier {
    condition: Condition,
    point: Point,
    arrivals: mpsc::UnboundedSender<HeldCall>,
}

/// The test's side of a gate: where held calls arrive.
///
/// Dropping it opens the gate for good: calls that arrived and those to come go on.
#[derive(Debug)]
#[must_use = "a dropped gate holds nothing"]
pub struct Gate {
    arrivals: mpsc::UnboundedReceiver<HeldCall>,
}

/// A call that stands at a gate. It goes on when this is dropped or [released](Self::release).
#[derive(Debug)]
#[must_use = "a dropped call is released"]
pub struct HeldCall {
    operation: Operation,
    keys: Vec<InboxKey>,
    release: oneshot::Sender<()>,
}

impl GateStore {
    /// Wraps `store`, without any gate.
    pub fn new(store: impl InboxStore) -> Self {
        Self {
            store: Arc::new(store),
            gates: Arc::default(),
        }
    }

    /// Holds the calls that meet `when` at `point`, from now on.
    pub fn hold(&self, when: When, point: Point) -> Gate {
        let (sender, arrivals) = mpsc::unbounded_channel();
        self.gates().push(Arc::new(Barrier {
            condition: Condition::new(when),
            point,
            arrivals: sender,
        }));
        Gate { arrivals }
    }

    fn gates(&self) -> MutexGuard<'_, Vec<Arc<Barrier>>> {
        self.gates.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn call<T>(
        &self,
        call: StoreCall<'_>,
        effect: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Error> {
        let met: Vec<_> = self
            .gates()
            .iter()
            .filter(|gate| gate.condition.is_met(call))
            .cloned()
            .collect();
        pass(&met, Point::BeforeEffect, call).await;
        let answer = effect.await?;
        pass(&met, Point::AfterEffect, call).await;
        Ok(answer)
    }
}

async fn pass(gates: &[Arc<Barrier>], point: Point, call: StoreCall<'_>) {
    for gate in gates.iter().filter(|gate| gate.point == point) {
        let (release, released) = oneshot::channel();
        let held = HeldCall {
            operation: call.operation(),
            keys: call.keys().to_vec(),
            release,
        };
        // A gate that the test dropped lets everything through, and so does a dropped call: in
        // both cases the sender is gone, which ends the wait.
        let _ = gate.arrivals.send(held);
        let _ = released.await;
    }
}

impl Gate {
    /// Waits until the next call stands at the gate.
    ///
    /// # Panics
    ///
    /// When the store is gone, since no call can arrive any more.
    ///
    /// # Cancel safety
    ///
    /// A dropped wait loses no call.
    pub async fn reached(&mut self) -> HeldCall {
        self.arrivals
            .recv()
            .await
            .expect("the gated store was dropped while a test waited for a call to it")
    }
}

impl HeldCall {
    /// Which operation it is.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.operation
    }

    /// Its keys, if it is a check or a record.
    #[must_use]
    pub fn keys(&self) -> &[InboxKey] {
        &self.keys
    }

    /// `true` once the caller dropped the call while it was held.
    #[must_use]
    pub fn is_dropped(&self) -> bool {
        self.release.is_closed()
    }

    /// Waits until the caller drops the call.
    ///
    /// # Cancel safety
    ///
    /// Has no effect when dropped.
    pub async fn dropped(&mut self) {
        self.release.closed().await;
    }

    /// Lets the call go on.
    pub fn release(self) {
        // A caller that dropped the call has nothing to let go on.
        let _ = self.release.send(());
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl InboxStore for GateStore {
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
