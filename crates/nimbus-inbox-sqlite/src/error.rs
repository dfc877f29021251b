//! From an error of the file to the inbox's, in one place (INB-26).

use std::error::Error as StdError;
use std::fmt;

use nimbus_inbox_core::{Error, ErrorKind, Operation};
use nimbus_sqlite::{ErrorKind as FileErrorKind, SqliteError};

use crate::table::TableName;

/// The name of this provider in metrics and logs.
pub(crate) const PROVIDER: &str = "sqlite";

/// What happened to `table` while the inbox was doing `operation`, for the person on call.
pub(crate) fn failed(operation: Operation, table: &TableName, error: SqliteError) -> Error {
    let context = format!(
        "{error}{}",
        remedy(&table.provision_command(error.path()), &error)
    );
    let failure = Error::new(kind_of(&error), operation, context).with_provider(PROVIDER);
    if error.source().is_some() {
        failure.with_source(Driver(error))
    } else {
        failure
    }
}

/// A set-up that no call can succeed with.
pub(crate) fn misconfigured(operation: Operation, context: impl Into<String>) -> Error {
    Error::configuration(operation, context).with_provider(PROVIDER)
}

fn kind_of(error: &SqliteError) -> ErrorKind {
    if error.outcome_unknown() {
        ErrorKind::OutcomeUnknown
    } else if is_passing(error) {
        ErrorKind::Transient
    } else {
        ErrorKind::Configuration
    }
}

/// Whether the message is better off with another delivery than with a person.
///
/// The program closes the file as it ends, and a panic is a defect. But our statements never
/// change, so one that SQLite refuses has met a table that is not ours, and always will.
pub(crate) fn is_passing(error: &SqliteError) -> bool {
    matches!(
        error.kind(),
        FileErrorKind::Transient | FileErrorKind::Closed | FileErrorKind::Panicked
    )
}

/// What to do, where the file's error can't know it.
pub(crate) fn remedy(provision: &str, error: &SqliteError) -> String {
    match error.kind() {
        _ if error.outcome_unknown() => {
            "; it may have happened all the same, and doing it again is right".to_owned()
        }
        FileErrorKind::MissingTable => {
            format!("; run `{provision}`, or open it with automatic creation")
        }
        FileErrorKind::Constraint | FileErrorKind::Other => {
            format!("; `{provision} --check` tells how the table differs from what is needed")
        }
        _ => String::new(),
    }
}

/// What the driver reported, without what the text above it says already.
#[derive(Debug)]
pub(crate) struct Driver(pub(crate) SqliteError);

impl fmt::Display for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.source() {
            Some(source) => fmt::Display::fmt(source, f),
            None => fmt::Debug::fmt(&self.0.kind(), f),
        }
    }
}

impl StdError for Driver {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source().and_then(StdError::source)
    }
}
