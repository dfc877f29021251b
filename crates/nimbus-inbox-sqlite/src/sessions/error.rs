//! From an error of the file to that of a session store.

use nimbus_messaging::{SessionId, TransportError, TransportErrorKind};
use nimbus_sqlite::SqliteError;

use crate::error::{Driver, is_passing, remedy};

/// What happened to the sessions while doing `what`, for the person on call.
pub(super) fn failed(what: &str, error: SqliteError) -> TransportError {
    let kind = if is_passing(&error) {
        TransportErrorKind::Transient
    } else {
        TransportErrorKind::Configuration
    };
    let command = format!(
        "cargo xtask provision --sessions {}",
        error.path().display()
    );
    let advice = remedy(&command, &error);
    let context = format!("the session store failed while {what}: {error}{advice}");
    TransportError::new(kind, context).with_source(Driver(error))
}

/// What is stored can't be read: someone has to look at it.
pub(super) fn unreadable(
    what: &str,
    table: &str,
    session: &SessionId,
    problem: serde_json::Error,
) -> TransportError {
    TransportError::configuration(format!(
        "{what} of session {session:?} is not readable; correct or delete its row in {table}"
    ))
    .with_source(problem)
}
