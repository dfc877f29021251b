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
