//! A store that keeps the contract but for one flaw.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use nimbus_inbox_core::{
    Clock, Cutoff, EndpointId, Error, InboxKey, InboxStore, Operation, PurgeLimit, Recorded,
    StoreCapabilities, SystemClock, Timestamp,
};
use tokio::sync::Semaphore;
use tokio::task::yield_now;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    FoldsCase,
    TruncatesIds,
    JoinsThePartsBare,
    MovesTheCreationTime,
    SaysNowTwice,
    SortsItsAnswers,
    AnswersEachKeyOnce,
    FailsOnAnEmptyBatch,
    TearsBatches,
    LeaksPermits(usize),
    PurgesTheCutoffItself,
    PurgesTrimmedEndpoints,
    PurgesEveryEndpoint,
    PurgesTheNewestFirst,
    IgnoresTheLimit,
    PurgesByKeyAlone,
    OverflowsOnLongAges,
    CutsByAnotherClock,
    CreatesTwice,
    WipesWhenVerified,
    FailsTransiently,
    Hangs,
    BlocksItsThread,
}

#[derive(Debug, Clone)]
pub(crate) struct Flawed {
    flaw: Flaw,
    durable: bool,
    clock: Arc<dyn Clock>,
    shared: Arc<Shared>,
}

type Key = (String, String);

#[derive(Debug)]
struct Shared {
    records: Mutex<BTreeMap<Key, Timestamp>>,
    permits: Semaphore,
    table: AtomicU8,
}

const ABSENT: u8 = 0;
const CREATING: u8 = 1;
const THERE: u8 = 2;

impl Flawed {
    pub(crate) fn new(flaw: Flaw) -> Self {
        Self::with_clock(flaw, SystemClock)
    }

    pub(crate) fn with_clock(flaw: Flaw, clock: impl Clock) -> Self {
        let permits = match flaw {
            Flaw::LeaksPermits(permits) => permits,
            _ => 1,
        };
        Self {
            flaw,
            durable: false,
            clock: Arc::new(clock),
            shared: Arc::new(Shared {
                records: Mutex::default(),
                permits: Semaphore::new(permits),
                table: AtomicU8::new(ABSENT),
            }),
        }
    }

    /// Claims that records survive the last handle.
    pub(crate) fn claiming_durability(mut self) -> Self {
        self.durable = true;
        self
    }

    fn records(&self) -> MutexGuard<'_, BTreeMap<Key, Timestamp>> {
        self.shared.records.lock().expect("no holder panics")
    }

    fn key(&self, key: &InboxKey) -> Key {
        let (endpoint, id) = (key.endpoint().as_str(), key.message_id().as_str());
        let id = match self.flaw {
            Flaw::FoldsCase => id.to_lowercase(),
            Flaw::TruncatesIds => id.chars().take(255).collect(),
            _ => id.to_owned(),
        };
        match self.flaw {
            Flaw::JoinsThePartsBare => (String::new(), format!("{endpoint}{id}")),
            _ => (endpoint.to_owned(), id),
        }
    }

    async fn begin(&self, operation: Operation) -> Result<(), Error> {
        match self.flaw {
            Flaw::FailsTransiently => Err(Error::transient(operation, "no such table")),
            Flaw::Hangs => std::future::pending().await,
            Flaw::BlocksItsThread => loop {
                std::thread::park();
            },
            Flaw::CreatesTwice => self.create(operation).await,
            _ => {
                yield_now().await;
                Ok(())
            }
        }
    }

    /// Creates the table where it is absent, without care for others that do.
    async fn create(&self, operation: Operation) -> Result<(), Error> {
        let table = &self.shared.table;
        match table.compare_exchange(ABSENT, CREATING, Ordering::SeqCst, Ordering::SeqCst) {
            Err(THERE) => Ok(()),
            Err(_) => Err(Error::configuration(operation, "the table exists already")),
            Ok(_) => {
                tokio::time::sleep(Duration::from_millis(1)).await;
                table.store(THERE, Ordering::SeqCst);
                Ok(())
            }
        }
    }

    async fn record_key(&self, key: &InboxKey) -> Recorded {
        let key = self.key(key);
        if self.flaw == Flaw::SaysNowTwice {
            let absent = !self.records().contains_key(&key);
            yield_now().await;
            self.records().entry(key).or_insert(self.clock.now());
            return if absent {
                Recorded::Now
            } else {
                Recorded::Already
            };
        }
        if self.flaw == Flaw::TearsBatches {
            yield_now().await;
        }
        let mut records = self.records();
        if let Some(created) = records.get_mut(&key) {
            if self.flaw == Flaw::MovesTheCreationTime {
                *created = self.clock.now();
            }
            return Recorded::Already;
        }
        records.insert(key, self.clock.now());
        Recorded::Now
    }

    fn purges(&self, record: &str, endpoint: &str) -> bool {
        match self.flaw {
            Flaw::PurgesEveryEndpoint | Flaw::JoinsThePartsBare => true,
            Flaw::PurgesTrimmedEndpoints => record.trim_end() == endpoint.trim_end(),
            _ => record == endpoint,
        }
    }

    fn cutoff(&self, cutoff: Cutoff) -> Timestamp {
        match (self.flaw, cutoff) {
            (Flaw::CutsByAnotherClock, _) => cutoff.instant(SystemClock.now()),
            (Flaw::OverflowsOnLongAges, Cutoff::OlderThan(age)) => {
                let ticks = i64::try_from(age.as_nanos() / 100).expect("the age fits");
                Timestamp::from_unix_ticks(self.clock.now().unix_ticks() - ticks)
            }
            _ => cutoff.instant(self.clock.now()),
        }
    }
}

#[async_trait]
impl InboxStore for Flawed {
    fn provider(&self) -> &'static str {
        "flawed"
    }

    fn capabilities(&self) -> StoreCapabilities {
        StoreCapabilities {
            durable: self.durable,
            shared: false,
            atomic_batches: true,
        }
    }

    async fn verify(&self) -> Result<(), Error> {
        self.begin(Operation::Verify).await?;
        if self.flaw == Flaw::WipesWhenVerified {
            self.records().clear();
        }
        Ok(())
    }

    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        self.begin(Operation::Check).await?;
        let mut keys: Vec<_> = keys.iter().map(|key| self.key(key)).collect();
        match self.flaw {
            Flaw::SortsItsAnswers => keys.sort_unstable(),
            Flaw::AnswersEachKeyOnce => keys.dedup(),
            _ => {}
        }
        let records = self.records();
        Ok(keys.iter().map(|key| records.get(key).copied()).collect())
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        self.begin(Operation::Record).await?;
        if self.flaw == Flaw::FailsOnAnEmptyBatch && keys.is_empty() {
            return Err(Error::transient(Operation::Record, "syntax error near ')'"));
        }
        if let Flaw::LeaksPermits(_) = self.flaw {
            self.shared
                .permits
                .acquire()
                .await
                .expect("never closed")
                .forget();
            yield_now().await;
        }
        let mut answers = Vec::new();
        for key in keys {
            answers.push(self.record_key(key).await);
        }
        self.shared.permits.add_permits(1);
        Ok(answers)
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        self.begin(Operation::Purge).await?;
        let cutoff = self.cutoff(cutoff);
        let look = || {
            let records = self.records();
            let mut old: Vec<_> = records
                .iter()
                .filter(|((name, _), created)| {
                    self.purges(name, endpoint.as_str())
                        && (**created < cutoff
                            || self.flaw == Flaw::PurgesTheCutoffItself && **created == cutoff)
                })
                .map(|(key, created)| (*created, key.clone()))
                .collect();
            old.sort_unstable();
            old
        };
        let mut old = look();
        if self.flaw == Flaw::PurgesTheNewestFirst {
            old.reverse();
        }
        if self.flaw != Flaw::IgnoresTheLimit {
            old.truncate(usize::try_from(limit.get()).expect("it fits"));
        }
        // The others look and remove under one lock, in effect: nothing is awaited in between.
        if self.flaw == Flaw::PurgesByKeyAlone {
            yield_now().await;
        }
        let mut removed = 0;
        for (created, key) in old {
            let mut records = self.records();
            let unchanged = records.get(&key) == Some(&created);
            if unchanged || self.flaw == Flaw::PurgesByKeyAlone {
                removed += u64::from(records.remove(&key).is_some());
            }
        }
        Ok(removed)
    }
}
