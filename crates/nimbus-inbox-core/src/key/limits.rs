//! The limits that both halves of a key share (INB-03).

use std::fmt;

/// Why an identity cannot be deduplicated (INB-03).
///
/// It names lengths, never the value: an id can hold anything a publisher put there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum UnusableId {
    /// The value is absent or empty.
    Missing,
    /// The value holds only Unicode white space.
    Blank {
        /// Length in UTF-16 code units.
        length: usize,
    },
    /// The value is longer than the limit.
    TooLong {
        /// Length in UTF-16 code units.
        length: usize,
        /// The most that is allowed, in UTF-16 code units.
        limit: usize,
    },
}

impl fmt::Display for UnusableId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing => f.write_str("missing"),
            Self::Blank { length } => {
                write!(f, "blank ({length} UTF-16 code units of white space)")
            }
            Self::TooLong { length, limit } => {
                write!(
                    f,
                    "too long ({length} UTF-16 code units, the limit is {limit})"
                )
            }
        }
    }
}

impl std::error::Error for UnusableId {}

/// Counts what `NVARCHAR` counts, so that a value fits every provider or none.
pub(super) fn validate(value: &str, limit: usize) -> Result<(), UnusableId> {
    if value.is_empty() {
        return Err(UnusableId::Missing);
    }
    let length = utf16_length(value);
    if value.chars().all(char::is_whitespace) {
        return Err(UnusableId::Blank { length });
    }
    if length > limit {
        return Err(UnusableId::TooLong { length, limit });
    }
    Ok(())
}

pub(super) fn utf16_length(value: &str) -> usize {
    if value.is_ascii() {
        value.len()
    } else {
        value.encode_utf16().count()
    }
}
