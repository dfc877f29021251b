use std::time::Duration;

/// When a subscriber stops receiving because its handlers fail, and how it finds out that they
/// succeed again (SUB-23).
///
/// A run counts as failed when its failure is classified as
/// [`Retry`](crate::FailureClass::Retry) or [`Transient`](crate::FailureClass::Transient), panics and
/// timeouts included. An event that is discarded or dead-lettered is a fault of its own and counts
/// as nothing, as does a run that was cancelled.
///
/// A message that is tried while the circuit is half-open, and fails as `Transient`, is not given
/// back to the broker, which would count its deliveries: it keeps its session and is tried again,
/// until it succeeds, fails otherwise, or the subscriber stops.
#[derive(Debug, Clone)]
#[must_use]
pub struct CircuitBreaker {
    pub(super) failures: u32,
    pub(super) window: Option<Duration>,
    pub(super) open_for: Duration,
    pub(super) open_at_most: Duration,
    pub(super) probes: u32,
}

impl CircuitBreaker {
    /// Opens after so many failures with no success between them.
    pub fn consecutive(failures: u32) -> Self {
        Self {
            failures,
            window: None,
            open_for: Duration::from_secs(30),
            open_at_most: Duration::from_secs(5 * 60),
            probes: 1,
        }
    }

    /// Opens after so many failures within `window`, whatever succeeds meanwhile; for endpoints
    /// where some event types fail while others go on.
    pub fn within(failures: u32, window: Duration) -> Self {
        Self {
            window: Some(window),
            ..Self::consecutive(failures)
        }
    }

    /// How long it stays open before a message is tried, 30 s by default. Each try that fails
    /// doubles the time.
    pub fn open_for(mut self, time: Duration) -> Self {
        self.open_for = time;
        self
    }

    /// The longest that it stays open between two tries, 5 minutes by default.
    pub fn open_at_most(mut self, time: Duration) -> Self {
        self.open_at_most = time;
        self
    }

    /// How many tries in a row have to succeed before it closes, 1 by default. They are made one
    /// after another.
    pub fn probes(mut self, successes: u32) -> Self {
        self.probes = successes;
        self
    }

    /// What can't work.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        let times = [self.window, Some(self.open_for), Some(self.open_at_most)];
        let zero_time = times.into_iter().flatten().any(|time| time.is_zero());
        let problems = [
            (
                self.failures == 0,
                "the circuit breaker opens after no failure at all; give it at least 1",
            ),
            (
                self.probes == 0,
                "the circuit breaker closes without a try; give it at least 1 probe",
            ),
            (
                zero_time,
                "a time of the circuit breaker is zero; give it at least a moment",
            ),
            (
                self.open_at_most < self.open_for,
                "the circuit breaker stays open for longer than it may at most",
            ),
        ];
        let found = problems.into_iter().filter(|(is, _)| *is);
        found.map(|(_, problem)| problem.to_owned())
    }
}
