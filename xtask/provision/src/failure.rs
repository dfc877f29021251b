//! What went wrong, each thing once.

use std::error::Error;

use nimbus_sqlite::rusqlite;
use nimbus_sqlite::{ErrorKind, SqliteError};

/// The error and its causes, without those that say again what the one above them said.
pub(crate) fn text(error: &anyhow::Error) -> String {
    let mut told = Vec::new();
    for cause in error.chain() {
        told.push(cause.to_string());
        if explains_itself(cause) {
            break;
        }
    }
    told.join(": ")
}

/// Whether the causes below only repeat it.
fn explains_itself(cause: &(dyn Error + 'static)) -> bool {
    if let Some(error) = cause.downcast_ref::<SqliteError>() {
        return !matches!(
            error.kind(),
            ErrorKind::Transient | ErrorKind::Constraint | ErrorKind::Other
        );
    }
    // Its cause is the same text with SQLite's number.
    cause.is::<rusqlite::Error>()
}
