use std::time::Duration;

use crate::{Error, Operation, Timestamp};

/// Which records a purge may remove: those strictly older than this (INB-23).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cutoff {
    /// Older than this age, by the clock that stamps the store's records.
    OlderThan(Duration),
    /// Created before this instant; for tests and tools.
    Before(Timestamp),
}

impl Cutoff {
    /// The instant this cutoff means when the store's clock says `now`.
    #[must_use]
    pub fn instant(self, now: Timestamp) -> Timestamp {
        match self {
            Self::OlderThan(age) => now.saturating_sub(age),
            Self::Before(instant) => instant,
        }
    }
}

/// How many records one purge call may remove: 1 to 10,000, 1,000 by default (INB-23).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct PurgeLimit(u32);

impl PurgeLimit {
    /// The most any provider removes in one call.
    pub const MAX: Self = Self(10_000);

    /// Checks the number.
    ///
    /// # Errors
    ///
    /// A configuration error when `records` is zero or more than 10,000.
    pub fn new(records: u32) -> Result<Self, Error> {
        if (1..=Self::MAX.0).contains(&records) {
            Ok(Self(records))
        } else {
            Err(Error::configuration(
                Operation::Configure,
                format!(
                    "a purge batch of {records} records is outside 1 to {}",
                    Self::MAX.0
                ),
            ))
        }
    }

    /// The number of records.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Default for PurgeLimit {
    fn default() -> Self {
        Self(1_000)
    }
}
