use std::collections::BinaryHeap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use dashmap::DashMap;
use dashmap::mapref::entry::Entry;
use nimbus_inbox_core::{
    Clock, Cutoff, EndpointId, Error, InboxKey, InboxStore, PurgeLimit, Recorded,
    StoreCapabilities, StoreStats, SystemClock, Timestamp,
};

/// An inbox store in memory, for tests and demonstrations.
///
/// It is **not durable**: its records are gone when the last handle is dropped or the process
/// ends, and a second process never sees them. Clones are handles on the same records. A purge
/// looks at every record, so it is no measure of what a database does.
#[derive(Debug, Clone)]
pub struct InMemoryInbox {
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    records: DashMap<InboxKey, Record>,
    next_number: AtomicU64,
    clock: Arc<dyn Clock>,
    /// Held by the one transaction that is open.
    writer: Arc<tokio::sync::Mutex<()>>,
}

/// Ordered by age; the number breaks ties and tells a recreated record from its predecessor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    created_at: Timestamp,
    number: u64,
}

impl InMemoryInbox {
    /// An empty store on the system clock.
    #[must_use]
    pub fn new() -> Self {
        Self::with_clock(SystemClock)
    }

    /// An empty store that stamps its records and turns ages into instants by `clock`.
    #[must_use]
    pub fn with_clock(clock: impl Clock) -> Self {
        Self {
            shared: Arc::new(Shared {
                records: DashMap::new(),
                next_number: AtomicU64::new(0),
                clock: Arc::new(clock),
                writer: Arc::default(),
            }),
        }
    }

    /// How many records there are, over all endpoints.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.records.len()
    }

    /// `true` when nothing is recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared.records.is_empty()
    }

    /// The recorded keys of all endpoints in the order in which they were recorded.
    #[must_use]
    pub fn keys(&self) -> Vec<InboxKey> {
        let mut keys: Vec<_> = self
            .shared
            .records
            .iter()
            .map(|entry| (entry.number, entry.key().clone()))
            .collect();
        keys.sort_unstable_by_key(|(number, _)| *number);
        keys.into_iter().map(|(_, key)| key).collect()
    }

    pub(super) fn writer(&self) -> &Arc<tokio::sync::Mutex<()>> {
        &self.shared.writer
    }

    pub(super) fn is_recorded(&self, key: &InboxKey) -> bool {
        self.shared.records.contains_key(key)
    }

    pub(super) fn record_key(&self, key: &InboxKey) -> Recorded {
        match self.shared.records.entry(key.clone()) {
            Entry::Occupied(_) => Recorded::Already,
            Entry::Vacant(vacant) => {
                vacant.insert(Record {
                    created_at: self.shared.clock.now(),
                    number: self.shared.next_number.fetch_add(1, Ordering::Relaxed),
                });
                Recorded::Now
            }
        }
    }

    /// The endpoint's oldest records before `cutoff`, at most `limit` of them.
    fn oldest(&self, endpoint: &EndpointId, cutoff: Timestamp, limit: usize) -> Vec<Candidate> {
        // The youngest candidate is on top, so that it gives way to an older one.
        let mut oldest = BinaryHeap::new();
        for entry in &self.shared.records {
            if entry.key().endpoint() == endpoint && entry.created_at < cutoff {
                oldest.push(Candidate {
                    record: *entry.value(),
                    key: entry.key().clone(),
                });
                if oldest.len() > limit {
                    oldest.pop();
                }
            }
        }
        oldest.into_vec()
    }
}

impl Default for InMemoryInbox {
    fn default() -> Self {
        Self::new()
    }
}

/// No method awaits anything, so a call that was polled has run to its end: a dropped one leaves
/// all of its records or none.
#[async_trait]
impl InboxStore for InMemoryInbox {
    fn provider(&self) -> &'static str {
        "in_memory"
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
        Ok(keys
            .iter()
            .map(|key| self.shared.records.get(key).map(|record| record.created_at))
            .collect())
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        Ok(keys.iter().map(|key| self.record_key(key)).collect())
    }

    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        let cutoff = cutoff.instant(self.shared.clock.now());
        let limit = usize::try_from(limit.get()).unwrap_or(usize::MAX);
        let mut removed = 0;
        for candidate in self.oldest(endpoint, cutoff, limit) {
            // A record that was recreated since the look has another number and stays.
            let unchanged = |_: &InboxKey, record: &Record| *record == candidate.record;
            if self
                .shared
                .records
                .remove_if(&candidate.key, unchanged)
                .is_some()
            {
                removed += 1;
            }
        }
        Ok(removed)
    }

    async fn stats(&self, endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        let records = self.shared.records.iter();
        let created: Vec<Timestamp> = records
            .filter(|record| record.key().endpoint() == endpoint)
            .map(|record| record.created_at)
            .collect();
        let (oldest, newest) = (created.iter().min(), created.iter().max());
        let count = u64::try_from(created.len()).unwrap_or(u64::MAX);
        Ok(Some(StoreStats::new(
            count,
            oldest.copied(),
            newest.copied(),
        )))
    }
}

/// A record that a purge may remove, ordered by age alone.
#[derive(Debug)]
struct Candidate {
    record: Record,
    key: InboxKey,
}

impl Ord for Candidate {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.record.cmp(&other.record)
    }
}

impl PartialOrd for Candidate {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Candidate {
    fn eq(&self, other: &Self) -> bool {
        self.record == other.record
    }
}

impl Eq for Candidate {}
