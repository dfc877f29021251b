//! How one inbox behaves, apart from the store it uses.

use std::num::NonZeroU32;
use std::time::Duration;

use opentelemetry::metrics::Meter;

use crate::{Error, Operation, PurgeLimit};

const HOUR: Duration = Duration::from_secs(60 * 60);
const BATCHES_PER_PASS: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

/// Retention, cleanup and limits of one endpoint's inbox (INB-34).
///
/// The retention has to exceed the longest time after which the broker, a replay or an operator
/// can deliver a message again: once its record has expired, the same id runs again.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InboxOptions {
    retention_period: Duration,
    cleanup_interval: Duration,
    purge_limit: PurgeLimit,
    purge_pause: Duration,
    purge_batches_per_pass: NonZeroU32,
    store_timeout: Duration,
    meter: Option<Meter>,
}

impl Default for InboxOptions {
    /// Seven days of retention, cleaned every hour in batches of 1,000 with 200 ms between them,
    /// at most 1,000 batches a pass; 30 seconds for a store call; the global meter.
    fn default() -> Self {
        Self {
            retention_period: 7 * 24 * HOUR,
            cleanup_interval: HOUR,
            purge_limit: PurgeLimit::default(),
            purge_pause: Duration::from_millis(200),
            purge_batches_per_pass: BATCHES_PER_PASS,
            store_timeout: Duration::from_secs(30),
            meter: None,
        }
    }
}

impl InboxOptions {
    /// Sets how long a record is kept.
    ///
    /// # Errors
    ///
    /// A configuration error when it is zero.
    pub fn with_retention_period(mut self, period: Duration) -> Result<Self, Error> {
        self.retention_period = positive("retention period", period)?;
        Ok(self)
    }

    /// Sets the time between two cleanup passes.
    ///
    /// # Errors
    ///
    /// A configuration error when it is zero.
    pub fn with_cleanup_interval(mut self, interval: Duration) -> Result<Self, Error> {
        self.cleanup_interval = positive("cleanup interval", interval)?;
        Ok(self)
    }

    /// Sets how many records one purge call may remove.
    #[must_use]
    pub fn with_purge_limit(mut self, limit: PurgeLimit) -> Self {
        self.purge_limit = limit;
        self
    }

    /// Sets the pause between two batches of a pass, which leaves room for the checks and records
    /// of the messages. Zero is allowed and means none.
    #[must_use]
    pub fn with_purge_pause(mut self, pause: Duration) -> Self {
        self.purge_pause = pause;
        self
    }

    /// Sets how many batches a pass may remove before it leaves the rest to the next.
    ///
    /// # Errors
    ///
    /// A configuration error when it is zero.
    pub fn with_purge_batches_per_pass(mut self, batches: u32) -> Result<Self, Error> {
        self.purge_batches_per_pass = NonZeroU32::new(batches).ok_or_else(|| zero("batch cap"))?;
        Ok(self)
    }

    /// Sets how long the inbox waits for a check, a record with its one retry, a purge batch, or
    /// a step of a transaction.
    ///
    /// # Errors
    ///
    /// A configuration error when it is zero.
    pub fn with_store_timeout(mut self, timeout: Duration) -> Result<Self, Error> {
        self.store_timeout = positive("store timeout", timeout)?;
        Ok(self)
    }

    /// Sets the meter that the instruments are built from, instead of the global one.
    #[must_use]
    pub fn with_meter(mut self, meter: Meter) -> Self {
        self.meter = Some(meter);
        self
    }

    /// How long a record is kept.
    #[must_use]
    pub fn retention_period(&self) -> Duration {
        self.retention_period
    }

    /// The time between two cleanup passes.
    #[must_use]
    pub fn cleanup_interval(&self) -> Duration {
        self.cleanup_interval
    }

    /// How many records one purge call may remove.
    #[must_use]
    pub fn purge_limit(&self) -> PurgeLimit {
        self.purge_limit
    }

    /// The pause between two batches of a pass.
    #[must_use]
    pub fn purge_pause(&self) -> Duration {
        self.purge_pause
    }

    /// How many batches a pass may remove.
    #[must_use]
    pub fn purge_batches_per_pass(&self) -> u32 {
        self.purge_batches_per_pass.get()
    }

    /// How long the inbox waits for a store call.
    #[must_use]
    pub fn store_timeout(&self) -> Duration {
        self.store_timeout
    }

    pub(crate) fn meter(&self) -> Option<&Meter> {
        self.meter.as_ref()
    }
}

fn positive(what: &str, duration: Duration) -> Result<Duration, Error> {
    if duration.is_zero() {
        Err(zero(what))
    } else {
        Ok(duration)
    }
}

fn zero(what: &str) -> Error {
    Error::configuration(
        Operation::Configure,
        format!("the {what} of the inbox is zero; set a value above zero or leave the default"),
    )
}
