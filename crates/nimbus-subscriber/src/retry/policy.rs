use std::time::Duration;

use super::{Backoff, Jitter, RandomSource};

/// How often and how late a failed event is tried again.
///
/// Without a cap of its own no delay exceeds a day; jitter is full for exponential backoff and none
/// else.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryPolicy {
    backoff: Backoff,
    jitter: Jitter,
    max_delay: Duration,
    max_retries: u32,
}

impl RetryPolicy {
    const DEFAULT_MAX_DELAY: Duration = Duration::from_secs(24 * 60 * 60);
    const DEFAULT_MAX_RETRIES: u32 = 3;

    fn new(backoff: Backoff, jitter: Jitter) -> Self {
        Self {
            backoff,
            jitter,
            max_delay: Self::DEFAULT_MAX_DELAY,
            max_retries: Self::DEFAULT_MAX_RETRIES,
        }
    }

    /// The same delay before each of 3 retries.
    #[must_use]
    pub fn fixed(delay: Duration) -> Self {
        Self::new(Backoff::Fixed(delay), Jitter::None)
    }

    /// A delay that grows by `step` with each of 3 retries.
    #[must_use]
    pub fn linear(step: Duration) -> Self {
        Self::new(Backoff::Linear(step), Jitter::None)
    }

    /// A delay that doubles with each of 3 retries, fully jittered.
    #[must_use]
    pub fn exponential(first: Duration) -> Self {
        Self::new(Backoff::Exponential(first), Jitter::Full)
    }

    /// Allows `retries` attempts after the first.
    #[must_use]
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.max_retries = retries;
        self
    }

    /// No delay exceeds `delay`, with or without jitter.
    #[must_use]
    pub fn max_delay(mut self, delay: Duration) -> Self {
        self.max_delay = delay;
        self
    }

    /// Chooses the jitter.
    #[must_use]
    pub fn jitter(mut self, jitter: Jitter) -> Self {
        self.jitter = jitter;
        self
    }

    /// The delay before the retry that follows `retries_so_far`; `None` when the budget is spent.
    #[must_use]
    pub fn next_delay(&self, retries_so_far: u32, random: &dyn RandomSource) -> Option<Duration> {
        if retries_so_far >= self.max_retries {
            return None;
        }
        let delay = self.backoff.delay(retries_so_far.saturating_add(1));
        let jittered = self.jitter.apply(delay.min(self.max_delay), random);
        Some(jittered.min(self.max_delay))
    }
}
