//! Instants and ages as PostgreSQL counts them: whole microseconds, since the year 2000.

use std::error::Error;
use std::time::Duration;

use bytes::{BufMut, BytesMut};
use nimbus_inbox_core::Timestamp;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, accepts, to_sql_checked};

/// Microseconds from 1970 to 2000.
const EPOCH: i64 = 946_684_800_000_000;

/// The first instant that a column can hold, in the year 4713 BC.
const FIRST: i64 = -211_813_488_000_000_000;

/// Older than any record, and not so old that the server's clock minus it leaves its calendar.
const LONGEST_AGE: i64 = 6_000 * 365 * 24 * 3_600 * 1_000_000;

/// A creation time.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CreatedAt(pub(crate) Timestamp);

impl<'a> FromSql<'a> for CreatedAt {
    fn from_sql(_: &Type, raw: &'a [u8]) -> Result<Self, Box<dyn Error + Sync + Send>> {
        // The ends of the range are the infinities.
        let micros = i64::from_be_bytes(raw.try_into()?).saturating_add(EPOCH);
        Ok(Self(Timestamp::from_unix_micros(micros)))
    }

    accepts!(TIMESTAMPTZ);
}

/// The first stored instant that is not before this one.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Before(pub(crate) Timestamp);

impl Before {
    fn micros(self) -> i64 {
        // Of the instants in a microsecond, only its first can be stored.
        let ticks = self.0.unix_ticks();
        let micros = self.0.unix_micros() + i64::from(ticks.rem_euclid(10) != 0);
        micros.saturating_sub(EPOCH).max(FIRST)
    }
}

impl ToSql for Before {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_i64(self.micros());
        Ok(IsNull::No)
    }

    accepts!(TIMESTAMPTZ);
    to_sql_checked!();
}

/// How old, in microseconds alone: with days in it, its length would depend on a time zone.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Age(pub(crate) Duration);

impl Age {
    fn micros(self) -> i64 {
        let micros = i64::try_from(self.0.as_nanos().div_ceil(1_000)).unwrap_or(i64::MAX);
        micros.min(LONGEST_AGE)
    }
}

impl ToSql for Age {
    fn to_sql(&self, _: &Type, out: &mut BytesMut) -> Result<IsNull, Box<dyn Error + Sync + Send>> {
        out.put_i64(self.micros());
        out.put_i32(0); // days
        out.put_i32(0); // months
        Ok(IsNull::No)
    }

    accepts!(INTERVAL);
    to_sql_checked!();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(micros: i64) -> Timestamp {
        let raw = micros.to_be_bytes();
        let read = CreatedAt::from_sql(&Type::TIMESTAMPTZ, &raw);
        read.expect("eight bytes").0
    }

    #[test]
    fn stored_instants_come_back() {
        assert_eq!(read(0).to_string(), "2000-01-01T00:00:00.0000000Z");
        for micros in [-1, 0, 1, 820_000_000_123_456] {
            assert_eq!(Before(read(micros)).micros(), micros);
        }
        assert!(read(i64::MAX) > read(0) && read(i64::MIN) < read(0));
    }

    /// INB-23: strictly older, also where the cutoff lies between two instants of the server.
    #[test]
    fn a_cutoff_within_a_microsecond_takes_in_that_microsecond() {
        let whole = read(1_000);
        let within = Timestamp::from_unix_ticks(whole.unix_ticks() + 1);
        assert_eq!(Before(within).micros(), 1_001);
        assert_eq!(Before(Timestamp::from_unix_ticks(i64::MIN)).micros(), FIRST);
        Before(Timestamp::from_unix_ticks(i64::MAX)).micros();
    }

    #[test]
    fn an_age_is_never_shortened_and_never_leaves_the_calendar() {
        assert_eq!(Age(Duration::from_nanos(1)).micros(), 1);
        assert_eq!(Age(Duration::from_micros(7)).micros(), 7);
        assert_eq!(Age(Duration::MAX).micros(), LONGEST_AGE);
    }
}
