use std::time::Duration;

use super::RandomSource;

/// How the delay grows from retry to retry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Backoff {
    /// The same delay every time.
    Fixed(Duration),
    /// The delay times the number of the retry.
    Linear(Duration),
    /// The delay doubled with every retry.
    Exponential(Duration),
}

/// How chance changes a delay, so that messages that failed together don't come back together.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Jitter {
    /// Not at all.
    None,
    /// Anything from zero to the delay.
    Full,
    /// The delay, up or down by at most this share of it, which is held within 0 and 1.
    Bounded(f64),
}

impl Backoff {
    /// The delay before retry number `retry` (from 1), without cap or jitter; held at the end of
    /// the range, whatever the number.
    #[must_use]
    pub fn delay(self, retry: u32) -> Duration {
        let retry = retry.max(1);
        match self {
            Self::Fixed(base) => base,
            Self::Linear(base) => base.saturating_mul(retry),
            Self::Exponential(base) => {
                // Doubling past 2^31 no longer fits the factor, and is past any useful cap.
                base.saturating_mul(1_u32.checked_shl(retry - 1).unwrap_or(u32::MAX))
            }
        }
    }
}

impl Jitter {
    /// Changes `delay` by chance.
    #[must_use]
    pub fn apply(self, delay: Duration, random: &dyn RandomSource) -> Duration {
        let factor = match self {
            Self::None => return delay,
            Self::Full => random.unit(),
            Self::Bounded(share) => 1.0 + share.clamp(0.0, 1.0) * (2.0 * random.unit() - 1.0),
        };
        Duration::try_from_secs_f64(delay.as_secs_f64() * factor).unwrap_or(delay)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[derive(Debug)]
    struct Always(f64);

    impl RandomSource for Always {
        fn unit(&self) -> f64 {
            self.0
        }
    }

    /// SUB-20: fixed, linear and exponential delays by the number of the retry.
    #[test]
    fn delays_grow_as_named() {
        let seconds = |backoff: Backoff| [1, 2, 3, 4].map(|retry| backoff.delay(retry).as_secs());
        assert_eq!(seconds(Backoff::Fixed(2 * SECOND)), [2, 2, 2, 2]);
        assert_eq!(seconds(Backoff::Linear(2 * SECOND)), [2, 4, 6, 8]);
        assert_eq!(seconds(Backoff::Exponential(2 * SECOND)), [2, 4, 8, 16]);
        assert_eq!(Backoff::Exponential(SECOND).delay(0), SECOND);
    }

    /// SUB-20: attempt 10,000 and later overflow nothing; a later retry never comes sooner.
    #[test]
    fn no_retry_number_overflows() {
        for base in [Duration::from_nanos(1), SECOND, Duration::MAX] {
            for backoff in [
                Backoff::Fixed(base),
                Backoff::Linear(base),
                Backoff::Exponential(base),
            ] {
                let mut last = Duration::ZERO;
                for retry in (1..=40).chain([10_000, u32::MAX - 1, u32::MAX]) {
                    let delay = backoff.delay(retry);
                    assert!(delay >= last, "{backoff:?} at {retry}");
                    last = delay;
                }
            }
        }
        let late = Backoff::Exponential(SECOND).delay(10_000);
        assert!(late > Duration::from_secs(60 * 60 * 24 * 365));
    }

    /// SUB-20: full jitter covers zero to the delay, bounded jitter its share around it.
    #[test]
    fn jitter_stays_within_its_bounds() {
        let delay = 10 * SECOND;
        let apply = |jitter: Jitter, unit| jitter.apply(delay, &Always(unit)).as_millis();
        assert_eq!(apply(Jitter::None, 0.9), 10_000);
        assert_eq!(apply(Jitter::Full, 0.0), 0);
        assert_eq!(apply(Jitter::Full, 0.25), 2_500);
        assert_eq!(apply(Jitter::Bounded(0.2), 0.0), 8_000);
        assert_eq!(apply(Jitter::Bounded(0.2), 0.5), 10_000);
        assert_eq!(apply(Jitter::Bounded(0.2), 0.75), 11_000);
        assert_eq!(apply(Jitter::Bounded(7.0), 0.0), 0);
        assert_eq!(apply(Jitter::Bounded(-1.0), 0.0), 10_000);
        assert_eq!(apply(Jitter::Bounded(f64::NAN), 0.3), 10_000);
        let longest = Jitter::Bounded(1.0).apply(Duration::MAX, &Always(0.999));
        assert_eq!(longest, Duration::MAX);
        for _ in 0..1_000 {
            assert!(Jitter::Full.apply(delay, &crate::SystemRandom) < delay);
        }
    }
}
