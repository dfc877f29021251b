//! Instants, with the resolution that the durable stores share.

use std::fmt;
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::format_description::well_known::Rfc3339;
use time::macros::format_description;

/// Ticks per second: one tick is 100 nanoseconds.
const TICKS_PER_SECOND: i64 = 10_000_000;
const NANOS_PER_TICK: i128 = 100;

const SEVEN_DIGITS: &[BorrowedFormatItem<'static>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:7]Z");

/// An instant in UTC with a resolution of 100 nanoseconds.
///
/// The resolution is that of SQL Server's `DATETIME2(7)` and of the documents that a .NET peer
/// writes, so a creation time survives a round trip through every store that keeps at least as
/// much. Displayed as ISO 8601 with seven fraction digits and `Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp {
    ticks: i64,
}

impl Timestamp {
    /// The start of the Unix epoch, 1970-01-01T00:00:00Z.
    pub const UNIX_EPOCH: Self = Self { ticks: 0 };

    /// The instant `ticks` hundred-nanosecond steps after the Unix epoch.
    #[must_use]
    pub const fn from_unix_ticks(ticks: i64) -> Self {
        Self { ticks }
    }

    /// Hundred-nanosecond steps since the Unix epoch, negative before it.
    #[must_use]
    pub const fn unix_ticks(self) -> i64 {
        self.ticks
    }

    /// The instant `micros` microseconds after the Unix epoch, held at the ends of the range.
    #[must_use]
    pub const fn from_unix_micros(micros: i64) -> Self {
        Self {
            ticks: micros.saturating_mul(10),
        }
    }

    /// Whole microseconds since the Unix epoch, rounded down.
    #[must_use]
    pub const fn unix_micros(self) -> i64 {
        self.ticks.div_euclid(10)
    }

    /// This instant moved forward by `duration`, held at the end of the range.
    #[must_use]
    pub fn saturating_add(self, duration: Duration) -> Self {
        Self {
            ticks: self.ticks.saturating_add(ticks_of(duration)),
        }
    }

    /// This instant moved back by `duration`, held at the start of the range.
    #[must_use]
    pub fn saturating_sub(self, duration: Duration) -> Self {
        Self {
            ticks: self.ticks.saturating_sub(ticks_of(duration)),
        }
    }

    /// The time from `earlier` to this instant; zero when `earlier` is later.
    #[must_use]
    pub fn saturating_duration_since(self, earlier: Self) -> Duration {
        let ticks = u64::try_from(self.ticks.saturating_sub(earlier.ticks)).unwrap_or(0);
        let per_second = TICKS_PER_SECOND.unsigned_abs();
        let nanos = u32::try_from(ticks % per_second * 100).unwrap_or(0);
        Duration::new(ticks / per_second, nanos)
    }

    fn to_offset_date_time(self) -> Option<OffsetDateTime> {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.ticks) * NANOS_PER_TICK).ok()
    }
}

fn ticks_of(duration: Duration) -> i64 {
    i64::try_from(duration.as_nanos() / NANOS_PER_TICK.unsigned_abs()).unwrap_or(i64::MAX)
}

impl From<SystemTime> for Timestamp {
    /// Rounds down to the resolution; held at the ends of the range.
    fn from(instant: SystemTime) -> Self {
        match instant.duration_since(SystemTime::UNIX_EPOCH) {
            Ok(after) => Self::UNIX_EPOCH.saturating_add(after),
            Err(before) => Self::UNIX_EPOCH.saturating_sub(before.duration()),
        }
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = self
            .to_offset_date_time()
            .and_then(|instant| instant.format(SEVEN_DIGITS).ok());
        match text {
            Some(text) => f.write_str(&text),
            // Outside the years the calendar formats; still exact.
            None => write!(f, "unix ticks {}", self.ticks),
        }
    }
}

/// A text that is not an ISO 8601 instant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ParseTimestampError {
    text: String,
}

impl fmt::Display for ParseTimestampError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{:?} is not an ISO 8601 instant such as 2026-01-31T12:00:00.0000000Z",
            self.text
        )
    }
}

impl std::error::Error for ParseTimestampError {}

impl FromStr for Timestamp {
    type Err = ParseTimestampError;

    /// Reads ISO 8601 with any number of fraction digits and any offset.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let unreadable = || ParseTimestampError {
            text: text.chars().take(64).collect(),
        };
        let instant = OffsetDateTime::parse(text, &Rfc3339).map_err(|_| unreadable())?;
        let ticks = instant.unix_timestamp_nanos().div_euclid(NANOS_PER_TICK);
        Ok(Self {
            ticks: i64::try_from(ticks).map_err(|_| unreadable())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shows_seven_fraction_digits_and_reads_them_back() {
        let instant = Timestamp::from_unix_ticks(17_000_000_000_000_001);
        assert_eq!(instant.to_string(), "2023-11-14T22:13:20.0000001Z");
        assert_eq!(instant.to_string().parse(), Ok(instant));
    }

    #[test]
    fn reads_trimmed_fractions_and_offsets() {
        let expected: Timestamp = "2026-01-31T11:00:00.5000000Z".parse().unwrap();
        assert_eq!("2026-01-31T11:00:00.5Z".parse(), Ok(expected));
        assert_eq!("2026-01-31T12:00:00.5+01:00".parse(), Ok(expected));
        assert!("yesterday".parse::<Timestamp>().is_err());
    }

    #[test]
    fn arithmetic_is_held_at_the_ends_of_the_range() {
        let late = Timestamp::from_unix_ticks(i64::MAX);
        assert_eq!(late.saturating_add(Duration::MAX), late);
        let early = Timestamp::UNIX_EPOCH.saturating_sub(Duration::MAX);
        assert_eq!(early.saturating_duration_since(late), Duration::ZERO);
        assert!(late.to_string().starts_with("unix ticks") || late.to_string().ends_with('Z'));
    }

    #[test]
    fn microseconds_round_down_also_before_the_epoch() {
        assert_eq!(Timestamp::from_unix_ticks(-1).unix_micros(), -1);
        assert_eq!(Timestamp::from_unix_ticks(19).unix_micros(), 1);
    }
}
