//! Clocks that a test controls.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use nimbus_inbox_core::{Clock, Timestamp};
use tokio::time::Instant;

/// A clock that stands still until it is told otherwise.
///
/// Clones show the same time, so a test keeps one and gives another to what it tests.
#[derive(Debug, Clone)]
pub struct ManualClock(Arc<AtomicI64>);

impl ManualClock {
    /// A clock that shows `instant`.
    #[must_use]
    pub fn at(instant: Timestamp) -> Self {
        Self(Arc::new(AtomicI64::new(instant.unix_ticks())))
    }

    /// Shows `instant` from now on, which may be earlier than before.
    pub fn set(&self, instant: Timestamp) {
        self.0.store(instant.unix_ticks(), Ordering::SeqCst);
    }

    /// Moves the clock forward.
    pub fn advance(&self, duration: Duration) {
        self.shift(|now| now.saturating_add(duration));
    }

    /// Moves the clock back, as a correction of a real one would.
    pub fn rewind(&self, duration: Duration) {
        self.shift(|now| now.saturating_sub(duration));
    }

    fn shift(&self, change: impl Fn(Timestamp) -> Timestamp) {
        // The closure always answers, so the update can't be refused.
        let _ = self
            .0
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |ticks| {
                Some(change(Timestamp::from_unix_ticks(ticks)).unix_ticks())
            });
    }
}

impl Default for ManualClock {
    /// A clock that shows 2026-01-01T00:00:00Z.
    fn default() -> Self {
        Self::at(START)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        Timestamp::from_unix_ticks(self.0.load(Ordering::SeqCst))
    }
}

/// A wall clock that follows tokio's time, and so stands still or jumps when a test pauses or
/// advances that.
#[derive(Debug, Clone, Copy)]
pub struct TokioClock {
    start: Timestamp,
    started: Instant,
}

impl TokioClock {
    /// A clock that shows `start` now. Create it inside the runtime whose time it follows.
    #[must_use]
    pub fn starting_at(start: Timestamp) -> Self {
        Self {
            start,
            started: Instant::now(),
        }
    }
}

impl Default for TokioClock {
    /// A clock that shows 2026-01-01T00:00:00Z now.
    fn default() -> Self {
        Self::starting_at(START)
    }
}

impl Clock for TokioClock {
    fn now(&self) -> Timestamp {
        self.start.saturating_add(self.started.elapsed())
    }
}

/// 2026-01-01T00:00:00Z, so that two runs of a test see the same instants.
const START: Timestamp = Timestamp::from_unix_ticks(1_767_225_600 * 10_000_000);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_manual_clock_moves_only_when_told_and_with_all_its_clones() {
        let clock = ManualClock::default();
        let clone = clock.clone();
        assert_eq!(clone.now().to_string(), "2026-01-01T00:00:00.0000000Z");
        clock.advance(Duration::from_secs(61));
        assert_eq!(clone.now().to_string(), "2026-01-01T00:01:01.0000000Z");
        clone.rewind(Duration::from_secs(1));
        assert_eq!(clock.now().to_string(), "2026-01-01T00:01:00.0000000Z");
        clock.set(Timestamp::UNIX_EPOCH);
        assert_eq!(clone.now(), Timestamp::UNIX_EPOCH);
    }

    #[tokio::test(start_paused = true)]
    async fn a_tokio_clock_jumps_with_paused_time() {
        let clock = TokioClock::starting_at(Timestamp::UNIX_EPOCH);
        assert_eq!(clock.now(), Timestamp::UNIX_EPOCH);
        tokio::time::sleep(Duration::from_secs(3_600)).await;
        assert_eq!(
            clock.now().saturating_duration_since(Timestamp::UNIX_EPOCH),
            Duration::from_secs(3_600)
        );
    }
}
