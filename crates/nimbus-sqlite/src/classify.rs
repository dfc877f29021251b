//! From SQLite's result codes to [`ErrorKind`], in one place.
//!
//! By code alone: message texts change between versions.

use rusqlite::ffi;

use crate::error::ErrorKind;

/// SQLite's extended result code of `error`, where it has one.
pub(crate) fn extended_code(error: &rusqlite::Error) -> Option<i32> {
    match error {
        rusqlite::Error::SqliteFailure(error, _) | rusqlite::Error::SqlInputError { error, .. } => {
            Some(error.extended_code)
        }
        _ => None,
    }
}

pub(crate) fn kind(error: &rusqlite::Error) -> ErrorKind {
    match (extended_code(error), error) {
        (Some(code), _) => kind_of_code(code),
        (None, rusqlite::Error::InvalidPath(_) | rusqlite::Error::NulError(_)) => {
            ErrorKind::InvalidPath
        }
        (None, _) => ErrorKind::Other,
    }
}

fn kind_of_code(extended: i32) -> ErrorKind {
    match extended {
        // Growing the shared-memory file is where WAL mode meets a full volume
        // first; the system's own code is lost on the way.
        ffi::SQLITE_IOERR_SHMSIZE => return ErrorKind::Full,
        // A page's checksum, a truncated file, or a file system that says it is
        // damaged: waiting doesn't mend them.
        ffi::SQLITE_IOERR_DATA | ffi::SQLITE_IOERR_SHORT_READ | ffi::SQLITE_IOERR_CORRUPTFS => {
            return ErrorKind::Corrupt;
        }
        _ => {}
    }
    match primary(extended) {
        ffi::SQLITE_BUSY
        | ffi::SQLITE_LOCKED
        | ffi::SQLITE_INTERRUPT
        | ffi::SQLITE_ABORT
        | ffi::SQLITE_NOMEM
        | ffi::SQLITE_PROTOCOL
        | ffi::SQLITE_SCHEMA
        | ffi::SQLITE_IOERR => ErrorKind::Transient,
        ffi::SQLITE_FULL => ErrorKind::Full,
        ffi::SQLITE_READONLY => ErrorKind::ReadOnly,
        ffi::SQLITE_CANTOPEN | ffi::SQLITE_PERM | ffi::SQLITE_NOLFS => ErrorKind::CannotOpen,
        ffi::SQLITE_NOTADB => ErrorKind::NotADatabase,
        ffi::SQLITE_CORRUPT | ffi::SQLITE_FORMAT => ErrorKind::Corrupt,
        ffi::SQLITE_CONSTRAINT => ErrorKind::Constraint,
        _ => ErrorKind::Other,
    }
}

/// Whether another connection's lock is the reason.
pub(crate) fn is_busy(error: &rusqlite::Error) -> bool {
    extended_code(error).is_some_and(|code| primary(code) == ffi::SQLITE_BUSY)
}

/// Whether SQLite blames the statement itself: among many mistakes, a table
/// that doesn't exist, for which it has no code of its own.
pub(crate) fn is_statement_mistake(error: &rusqlite::Error) -> bool {
    extended_code(error).is_some_and(|code| primary(code) == ffi::SQLITE_ERROR)
}

/// Whether a COMMIT that failed with `error` certainly stored nothing.
///
/// An I/O error doesn't tell: the log's last frame may have reached the disk
/// before its sync failed.
pub(crate) fn commit_stored_nothing(error: &rusqlite::Error) -> bool {
    extended_code(error).is_none_or(|code| {
        matches!(
            primary(code),
            ffi::SQLITE_BUSY
                | ffi::SQLITE_LOCKED
                | ffi::SQLITE_FULL
                | ffi::SQLITE_READONLY
                | ffi::SQLITE_CONSTRAINT
                | ffi::SQLITE_ERROR
        )
    })
}

fn primary(extended: i32) -> i32 {
    extended & 0xff
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver_error(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(
            ffi::Error::new(code),
            Some("ein Text, der nichts bedeutet".into()),
        )
    }

    #[test]
    fn extended_codes_follow_their_primary_code() {
        for (code, expected) in [
            (ffi::SQLITE_BUSY, ErrorKind::Transient),
            (ffi::SQLITE_BUSY_SNAPSHOT, ErrorKind::Transient),
            (ffi::SQLITE_BUSY_RECOVERY, ErrorKind::Transient),
            (ffi::SQLITE_IOERR_FSYNC, ErrorKind::Transient),
            (ffi::SQLITE_FULL, ErrorKind::Full),
            (ffi::SQLITE_READONLY_DBMOVED, ErrorKind::ReadOnly),
            (ffi::SQLITE_CANTOPEN_ISDIR, ErrorKind::CannotOpen),
            (ffi::SQLITE_NOTADB, ErrorKind::NotADatabase),
            (ffi::SQLITE_CORRUPT_INDEX, ErrorKind::Corrupt),
            (ffi::SQLITE_CONSTRAINT_PRIMARYKEY, ErrorKind::Constraint),
            (ffi::SQLITE_ERROR, ErrorKind::Other),
        ] {
            assert_eq!(kind(&driver_error(code)), expected, "code {code}");
        }
    }

    #[test]
    fn some_io_errors_are_not_worth_a_retry() {
        assert_eq!(
            kind(&driver_error(ffi::SQLITE_IOERR_SHMSIZE)),
            ErrorKind::Full
        );
        assert_eq!(
            kind(&driver_error(ffi::SQLITE_IOERR_DATA)),
            ErrorKind::Corrupt
        );
        assert_eq!(
            kind(&driver_error(ffi::SQLITE_IOERR_CORRUPTFS)),
            ErrorKind::Corrupt
        );
    }

    #[test]
    fn only_an_io_error_leaves_a_commit_open() {
        assert!(!commit_stored_nothing(&driver_error(
            ffi::SQLITE_IOERR_FSYNC
        )));
        assert!(!commit_stored_nothing(&driver_error(
            ffi::SQLITE_IOERR_WRITE
        )));
        assert!(commit_stored_nothing(&driver_error(ffi::SQLITE_FULL)));
        assert!(commit_stored_nothing(&driver_error(
            ffi::SQLITE_CONSTRAINT_FOREIGNKEY
        )));
    }
}
