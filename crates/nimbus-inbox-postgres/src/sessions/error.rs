//! From an error of the driver to that of a session store.

use std::error::Error as _;

use nimbus_inbox_core::{Error, Operation};
use nimbus_messaging::{SessionId, TransportError, TransportErrorKind};

use crate::error::{Driver, Phase, Site, Verdict};
use crate::tables::Unusable;

/// What happened to the sessions while doing `what`, for the person on call.
///
/// Whether a write took effect doesn't matter here: its version tells whoever comes next.
pub(super) fn failed(site: &Site, what: &str, error: tokio_postgres::Error) -> TransportError {
    let told = site.told(&error, Phase::Reading);
    let kind = match told.verdict {
        Verdict::Passing | Verdict::ReadOnly | Verdict::Unknown => TransportErrorKind::Transient,
        _ => TransportErrorKind::Configuration,
    };
    TransportError::new(kind, context(what, &told.text)).with_source(Driver(error))
}

/// No connection, or no tables.
pub(super) fn unusable(site: &Site, what: &str, unusable: Unusable) -> TransportError {
    from_inbox(what, site.unusable(Operation::Open, unusable))
}

pub(super) fn from_inbox(what: &str, error: Error) -> TransportError {
    let kind = if error.is_transient() {
        TransportErrorKind::Transient
    } else {
        TransportErrorKind::Configuration
    };
    let text = context(what, error.context());
    let failure = TransportError::new(kind, text);
    match error.source() {
        Some(cause) => failure.with_source(cause.to_string()),
        None => failure,
    }
}

fn context(what: &str, text: &str) -> String {
    format!("the session store failed while {what}: {text}")
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
