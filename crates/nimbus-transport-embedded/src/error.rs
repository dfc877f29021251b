//! From SQLite's errors to the transport's, in one place.

use std::error::Error as StdError;
use std::fmt;

use nimbus_messaging::{TransportError, TransportErrorKind};
use nimbus_sqlite::{ErrorKind, SqliteError};

/// Something that is done to the queue or the lane of that name, for an error text.
pub(crate) struct Doing<'a, T: ?Sized>(pub(crate) &'static str, pub(crate) &'a T);

impl<T: fmt::Display + ?Sized> fmt::Display for Doing<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}

/// What went wrong while doing `what`, for the person on call.
pub(crate) fn failed(what: impl fmt::Display, error: SqliteError) -> TransportError {
    let kind = if error.is_transient() {
        TransportErrorKind::Transient
    } else {
        // A full disk, a damaged file or a missing table stay so until someone acts, and so does a
        // statement that SQLite refuses.
        TransportErrorKind::Configuration
    };
    let advice = match error.kind() {
        ErrorKind::MissingTable => format!(
            "; run `cargo xtask provision --embedded {}`, or open it with automatic creation",
            error.path().display()
        ),
        _ if error.outcome_unknown() => "; it may have happened all the same".to_owned(),
        _ => String::new(),
    };
    TransportError::new(
        kind,
        format!("the embedded queue failed while {what}: {error}{advice}"),
    )
    .with_source(Driver(error))
}

/// The lock of a lane is gone.
pub(crate) fn lock_lost(lane: impl fmt::Display, before: &str) -> TransportError {
    TransportError::lock_lost(format!(
        "the lock of {lane} ended before {before}; what is not settled is delivered again, to \
         whoever locks it next"
    ))
}

pub(crate) fn invalid(context: impl Into<String>) -> TransportError {
    TransportError::new(TransportErrorKind::InvalidInput, context)
}

/// What the driver reported, without what the text above it says already.
#[derive(Debug)]
struct Driver(SqliteError);

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match StdError::source(&self.0) {
            Some(source) => fmt::Display::fmt(source, f),
            None => write!(f, "{:?}", self.0.kind()),
        }
    }
}

impl StdError for Driver {}
