//! One closure inside a transaction: whole or not at all.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use rusqlite::Transaction;

use crate::error::{ErrorKind, SqliteError};
use crate::site::Site;

/// Runs `work` inside a savepoint of `tx`. When it fails or panics, its changes
/// are undone and the transaction can go on.
///
/// Some errors, a full disk among them, make SQLite roll back the whole
/// transaction: ask [`is_over`] afterwards.
pub(crate) fn run<T>(
    tx: &Transaction<'_>,
    site: &Site,
    operation: &'static str,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> Result<T, SqliteError> {
    let fault = |source| site.error(source, operation, tx);
    execute(tx, "SAVEPOINT nimbus_step").map_err(fault)?;
    let outcome = guard(tx, site, operation, work).and_then(|value| {
        execute(tx, "RELEASE nimbus_step").map_err(|source| {
            fault(source).with_detail(
                "the closure ended the transaction it was lent, or passed over an error that did",
            )
        })?;
        Ok(value)
    });
    if outcome.is_err() {
        undo(tx);
    }
    outcome
}

/// Runs `work`, and turns its error and its panic into ours.
pub(crate) fn guard<T>(
    tx: &Transaction<'_>,
    site: &Site,
    operation: &'static str,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> Result<T, SqliteError> {
    match catch_unwind(AssertUnwindSafe(|| work(tx))) {
        Ok(outcome) => outcome.map_err(|source| site.error(source, operation, tx)),
        Err(panic) => Err(site
            .fault(ErrorKind::Panicked, operation)
            .with_detail(panic_text(panic.as_ref()))),
    }
}

/// Whether `tx` was rolled back as a whole. A statement that ran now would
/// commit by itself.
pub(crate) fn is_over(tx: &Transaction<'_>) -> bool {
    tx.is_autocommit()
}

fn undo(tx: &Transaction<'_>) {
    let undone = is_over(tx)
        || execute(tx, "ROLLBACK TO nimbus_step")
            .and_then(|()| execute(tx, "RELEASE nimbus_step"))
            .is_ok();
    if !undone {
        // What can't be undone in part is undone as a whole. Should even that
        // fail, closing the connection does it.
        let _ = execute(tx, "ROLLBACK");
    }
}

fn execute(tx: &Transaction<'_>, sql: &str) -> rusqlite::Result<()> {
    tx.prepare_cached(sql)?.execute(()).map(drop)
}

fn panic_text(panic: &(dyn Any + Send)) -> String {
    panic
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into())
}
