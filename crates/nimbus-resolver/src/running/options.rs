use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{Clock, SystemClock};
use nimbus_messaging::Address;

use crate::ResolverError;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// How a [`Resolver`](crate::Resolver) receives.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ResolverOptions {
    pub(crate) address: Address,
    pub(crate) concurrent_events: usize,
    pub(crate) retention: Duration,
    pub(crate) purge_interval: Duration,
    pub(crate) drain_deadline: Duration,
    pub(crate) clock: Arc<dyn Clock>,
}

impl Default for ResolverOptions {
    fn default() -> Self {
        Self {
            address: Address::RESOLVER,
            concurrent_events: 32,
            retention: 30 * DAY,
            purge_interval: Duration::from_secs(60 * 60),
            drain_deadline: Duration::from_secs(30),
            clock: Arc::new(SystemClock),
        }
    }
}

impl ResolverOptions {
    /// The address that it receives from; `Resolver` unless set.
    #[must_use]
    pub fn with_address(mut self, address: impl Into<Address>) -> Self {
        self.address = address.into();
        self
    }

    /// How many events' reports are worked on at a time; 32 unless set. Those that come together
    /// share a commit.
    #[must_use]
    pub fn with_concurrent_events(mut self, events: usize) -> Self {
        self.concurrent_events = events;
        self
    }

    /// How long a settled event is kept after it was last heard of; 30 days unless set. Events that
    /// wait for anything are kept for good.
    #[must_use]
    pub fn with_retention(mut self, retention: Duration) -> Self {
        self.retention = retention;
        self
    }

    /// The time between two purges; an hour unless set.
    #[must_use]
    pub fn with_purge_interval(mut self, interval: Duration) -> Self {
        self.purge_interval = interval;
        self
    }

    /// How long reports in work may take after the stop; 30 seconds unless set.
    #[must_use]
    pub fn with_drain_deadline(mut self, deadline: Duration) -> Self {
        self.drain_deadline = deadline;
        self
    }

    /// The clock that tells when a report arrives; the system's unless set.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }

    pub(crate) fn validate(&self) -> Result<(), ResolverError> {
        let problems: Vec<&str> = [
            (self.concurrent_events == 0, "no events at a time"),
            (self.retention.is_zero(), "a retention of zero"),
            (self.purge_interval.is_zero(), "a purge interval of zero"),
        ]
        .into_iter()
        .filter_map(|(wrong, problem)| wrong.then_some(problem))
        .collect();
        if problems.is_empty() {
            return Ok(());
        }
        Err(ResolverError::configuration(format!(
            "the options of the resolver can't work: {}",
            problems.join("; ")
        )))
    }
}
