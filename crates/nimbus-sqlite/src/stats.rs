//! What the writer has done so far.

use std::sync::atomic::{AtomicU64, Ordering};

/// Counts since the database was opened, of [`Database::write`] and
/// [`Database::ensure_schema`]; transactions of their own aren't counted.
///
/// Their quotient is how many writes shared one commit on average.
///
/// [`Database::write`]: crate::Database::write
/// [`Database::ensure_schema`]: crate::Database::ensure_schema
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct Stats {
    /// Closures whose changes were committed.
    pub writes: u64,
    /// Transactions they were committed in.
    pub commits: u64,
}

#[derive(Default)]
pub(crate) struct Counters {
    writes: AtomicU64,
    commits: AtomicU64,
}

impl Counters {
    pub(crate) fn committed(&self, writes: usize) {
        self.writes
            .fetch_add(u64::try_from(writes).unwrap_or(u64::MAX), Ordering::Relaxed);
        self.commits.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn read(&self) -> Stats {
        Stats {
            writes: self.writes.load(Ordering::Relaxed),
            commits: self.commits.load(Ordering::Relaxed),
        }
    }
}
