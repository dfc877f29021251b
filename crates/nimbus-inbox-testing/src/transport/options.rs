use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::Clock;
use nimbus_messaging::TransportCapabilities;

use crate::TokioClock;

/// How an [`InMemoryBroker`](super::InMemoryBroker) behaves.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct BrokerOptions {
    /// How long a lock holds from its acceptance or renewal; 30 seconds by default.
    pub lock_duration: Duration,
    /// After how many deliveries a message that comes back is dead-lettered; 10 by default,
    /// `None` for never.
    pub delivery_limit: Option<NonZeroU32>,
    /// After how long a settlement without an answer counts as failed; 10 seconds by default.
    pub settlement_bound: Duration,
    /// What the broker says it can do, and does; all of it by default.
    pub capabilities: TransportCapabilities,
    /// Whether parking and unparking change copy and state in one step; `true` by default.
    pub atomic_sessions: bool,
    /// Whether every effect is kept for [inspection](super::InMemoryBroker::log); `true` by default.
    pub log: bool,
    /// What time it is at the broker; tokio's time by default. Waiting is done in tokio's time, so
    /// another clock has to go on with it, or be followed by
    /// [`clock_moved`](super::InMemoryBroker::clock_moved).
    pub clock: Arc<dyn Clock>,
}

impl BrokerOptions {
    /// Sets how long a lock holds.
    #[must_use]
    pub fn with_lock_duration(mut self, duration: Duration) -> Self {
        self.lock_duration = duration;
        self
    }

    /// Sets after how many deliveries a message that comes back is dead-lettered.
    #[must_use]
    pub fn with_delivery_limit(mut self, limit: Option<NonZeroU32>) -> Self {
        self.delivery_limit = limit;
        self
    }

    /// Sets after how long a settlement without an answer counts as failed.
    #[must_use]
    pub fn with_settlement_bound(mut self, bound: Duration) -> Self {
        self.settlement_bound = bound;
        self
    }

    /// Plays a broker that can do no more than this.
    #[must_use]
    pub fn with_capabilities(mut self, capabilities: TransportCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Parks in two steps (copy, then state) and unparks in two (state, then removal).
    #[must_use]
    pub fn without_atomic_sessions(mut self) -> Self {
        self.atomic_sessions = false;
        self
    }

    /// Keeps no log, for runs too long for one.
    #[must_use]
    pub fn without_log(mut self) -> Self {
        self.log = false;
        self
    }

    /// Sets what time it is at the broker.
    #[must_use]
    pub fn with_clock(mut self, clock: impl Clock) -> Self {
        self.clock = Arc::new(clock);
        self
    }
}

impl Default for BrokerOptions {
    fn default() -> Self {
        Self {
            lock_duration: Duration::from_secs(30),
            delivery_limit: NonZeroU32::new(10),
            settlement_bound: Duration::from_secs(10),
            capabilities: TransportCapabilities {
                deferral: true,
                session_store: true,
                scheduled_send: true,
                cancel_scheduled: true,
                redelivery_horizon: None,
            },
            atomic_sessions: true,
            log: true,
            clock: Arc::new(TokioClock::default()),
        }
    }
}
