use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What a resolver did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ResolverReport {
    /// Deliveries.
    pub received: u64,
    /// Reports kept.
    pub kept: u64,
    /// Deliveries of reports that were kept before.
    pub repeated: u64,
    /// Messages that tell nothing of an event.
    pub ignored: u64,
    /// Messages that can't be used, set aside for an operator.
    pub dead_lettered: u64,
    /// Deliveries left unsettled, which come again.
    pub left: u64,
}

impl fmt::Display for ResolverReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "received {}, kept {}, repeated {}, ignored {}, dead-lettered {}, left {}",
            self.received, self.kept, self.repeated, self.ignored, self.dead_lettered, self.left
        )
    }
}

/// Counts while it runs; cheap to share.
#[derive(Debug, Clone, Default)]
pub(super) struct Tally(Arc<Counts>);

#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) received: AtomicU64,
    pub(super) kept: AtomicU64,
    pub(super) repeated: AtomicU64,
    pub(super) ignored: AtomicU64,
    pub(super) dead_lettered: AtomicU64,
    pub(super) left: AtomicU64,
}

impl Tally {
    pub(super) fn add(&self, count: impl Fn(&Counts) -> &AtomicU64) {
        count(&self.0).fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn report(&self) -> ResolverReport {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        ResolverReport {
            received: read(&self.0.received),
            kept: read(&self.0.kept),
            repeated: read(&self.0.repeated),
            ignored: read(&self.0.ignored),
            dead_lettered: read(&self.0.dead_lettered),
            left: read(&self.0.left),
        }
    }
}
