//! How a database is opened.

use std::num::NonZeroU32;
use std::time::Duration;

/// When a commit counts as done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Durability {
    /// When the disk has it: a change survives the loss of power.
    #[default]
    Full,
    /// When the operating system has it: a change survives the end of the
    /// process, and the last ones may be lost with the power. The file stays
    /// consistent.
    Normal,
}

/// Options of [`Database::open`](crate::Database::open).
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct OpenOptions {
    pub(crate) durability: Durability,
    pub(crate) busy_timeout: Duration,
    pub(crate) transaction_wait: Duration,
    pub(crate) max_pages: Option<NonZeroU32>,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            busy_timeout: Duration::from_secs(5),
            transaction_wait: Duration::from_secs(60),
            max_pages: None,
        }
    }
}

impl OpenOptions {
    /// When a commit counts as done; [`Durability::Full`] unless set.
    #[must_use]
    pub fn with_durability(mut self, durability: Durability) -> Self {
        self.durability = durability;
        self
    }

    /// How long an open, a read or a write waits for a lock before it fails as
    /// transient; 5 seconds unless set, at most a day.
    #[must_use]
    pub fn with_busy_timeout(mut self, timeout: Duration) -> Self {
        self.busy_timeout = timeout.min(LONGEST_WAIT);
        self
    }

    /// How long [`Database::transaction`](crate::Database::transaction) waits
    /// for *another* process or handle to give up the write lock; 60 seconds
    /// unless set, at most a day.
    ///
    /// Transactions of the same handle form a queue before that, in which a
    /// caller waits until its turn comes or it drops the future.
    #[must_use]
    pub fn with_transaction_wait(mut self, wait: Duration) -> Self {
        self.transaction_wait = wait.min(LONGEST_WAIT);
        self
    }

    /// Bounds the file to this many pages, normally of 4,096 bytes; a write
    /// beyond fails with [`ErrorKind::Full`](crate::ErrorKind::Full).
    ///
    /// Not bounded unless set. A file that is larger already doesn't shrink;
    /// it doesn't grow any more.
    #[must_use]
    pub fn with_max_pages(mut self, pages: NonZeroU32) -> Self {
        self.max_pages = Some(pages);
        self
    }
}

/// The driver counts milliseconds in 32 bits and panics beyond.
const LONGEST_WAIT: Duration = Duration::from_secs(24 * 60 * 60);
