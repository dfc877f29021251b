//! A database in memory that holds effects and records, one writer at a time.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use nimbus_inbox_core::{
    BoxFuture, Cutoff, EndpointId, Error, InboxKey, InboxStore, Operation, PurgeLimit, Recorded,
    StoreCapabilities, Timestamp, Transactional,
};
use tokio::sync::OwnedMutexGuard;
use tokio::task::yield_now;

/// What callers bring: a reference to this, as to a real pool.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pool(Arc<tokio::sync::Mutex<()>>);

#[derive(Debug, Clone, Default)]
pub(crate) struct Ledger {
    state: Arc<Mutex<State>>,
    failing: Arc<Mutex<Option<Step>>>,
}

#[derive(Debug, Default)]
struct State {
    records: Vec<InboxKey>,
    effects: Vec<String>,
}

/// A step that a test lets fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Lease,
    Begin,
    Claim,
    Release,
    Commit,
    CommitAnswer,
    Rollback,
}

impl Ledger {
    pub(crate) fn records(&self) -> Vec<InboxKey> {
        self.state.lock().unwrap().records.clone()
    }

    pub(crate) fn effects(&self) -> Vec<String> {
        self.state.lock().unwrap().effects.clone()
    }

    pub(crate) fn fail(&self, step: impl Into<Option<Step>>) {
        *self.failing.lock().unwrap() = step.into();
    }

    /// Suspends as a round trip would, then fails if it should.
    async fn step(&self, step: Step) -> Result<(), Error> {
        yield_now().await;
        yield_now().await;
        if *self.failing.lock().unwrap() == Some(step) {
            return Err(Error::transient(
                Operation::Transaction,
                format!("planted-text at {step:?}"),
            ));
        }
        Ok(())
    }
}

/// Dropping it rolls back: nothing was applied before the commit.
pub(crate) struct Tx<'l> {
    _writer: &'l mut OwnedMutexGuard<()>,
    records: Vec<InboxKey>,
    effects: Vec<String>,
}

impl Tx<'_> {
    pub(crate) fn effect(&mut self, effect: &str) {
        self.effects.push(effect.to_owned());
    }
}

impl<'p> Transactional<&'p Pool> for Ledger {
    type Lease = OwnedMutexGuard<()>;
    type Tx<'l> = Tx<'l>;

    fn lease<'a>(&'a self, pool: &'p Pool) -> BoxFuture<'a, Result<Self::Lease, Error>>
    where
        &'p Pool: 'a,
    {
        Box::pin(async move {
            self.step(Step::Lease).await?;
            Ok(Arc::clone(&pool.0).lock_owned().await)
        })
    }

    fn begin<'a, 'l: 'a>(
        &'a self,
        lease: &'l mut Self::Lease,
    ) -> BoxFuture<'a, Result<Tx<'l>, Error>> {
        Box::pin(async move {
            self.step(Step::Begin).await?;
            Ok(Tx {
                _writer: lease,
                records: Vec::new(),
                effects: Vec::new(),
            })
        })
    }

    fn record_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<Vec<Recorded>, Error>> {
        Box::pin(async move {
            self.step(Step::Claim).await?;
            let committed = self.records();
            let mut found = Vec::new();
            for key in keys {
                if committed.contains(key) {
                    found.push(Recorded::Already);
                } else {
                    tx.records.push(key.clone());
                    found.push(Recorded::Now);
                }
            }
            Ok(found)
        })
    }

    fn release_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            self.step(Step::Release).await?;
            for key in keys {
                assert!(tx.records.contains(key), "released what was not claimed");
            }
            tx.records.retain(|key| !keys.contains(key));
            Ok(())
        })
    }

    fn commit<'a, 'l: 'a>(&'a self, tx: Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            self.step(Step::Commit).await?;
            {
                let mut state = self.state.lock().unwrap();
                state.records.extend(tx.records);
                state.effects.extend(tx.effects);
            }
            self.step(Step::CommitAnswer).await
        })
    }

    fn rollback<'a, 'l: 'a>(&'a self, tx: Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            drop(tx);
            self.step(Step::Rollback).await
        })
    }
}

#[async_trait]
impl InboxStore for Ledger {
    fn provider(&self) -> &'static str {
        "ledger"
    }

    fn capabilities(&self) -> StoreCapabilities {
        StoreCapabilities {
            durable: false,
            shared: false,
            atomic_batches: true,
        }
    }

    async fn verify(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        let records = self.records();
        Ok(keys
            .iter()
            .map(|key| records.contains(key).then_some(Timestamp::UNIX_EPOCH))
            .collect())
    }

    async fn record(&self, _: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        Err(Error::invalid_input(
            Operation::Record,
            "the transactional form recorded outside its transaction",
        ))
    }

    async fn purge(&self, _: &EndpointId, _: Cutoff, _: PurgeLimit) -> Result<u64, Error> {
        Ok(0)
    }
}
