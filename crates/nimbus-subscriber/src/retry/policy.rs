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

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Highest;

    impl RandomSource for Highest {
        fn unit(&self) -> f64 {
            0.999_999
        }
    }

    /// SUB-20: the budget counts retries, and the cap holds also after jitter, at any attempt.
    #[test]
    fn budget_and_cap_hold() {
        let second = Duration::from_secs(1);
        let policy = RetryPolicy::exponential(second)
            .jitter(Jitter::Bounded(1.0))
            .max_delay(30 * second);
        assert!(policy.next_delay(2, &Highest).is_some());
        assert_eq!(policy.next_delay(3, &Highest), None);
        assert_eq!(policy.next_delay(u32::MAX, &Highest), None);

        let endless = policy.max_retries(u32::MAX);
        assert_eq!(endless.next_delay(10_000, &Highest), Some(30 * second));
        assert_eq!(
            endless.next_delay(u32::MAX - 1, &Highest),
            Some(30 * second)
        );
        assert_eq!(
            RetryPolicy::fixed(second)
                .max_retries(0)
                .next_delay(0, &Highest),
            None
        );
        let uncapped = RetryPolicy::linear(Duration::MAX);
        let day = Duration::from_secs(24 * 60 * 60);
        assert_eq!(uncapped.next_delay(0, &Highest), Some(day));
    }
}
