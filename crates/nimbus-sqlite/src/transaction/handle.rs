//! What the caller holds.

use std::fmt;
use std::sync::{Arc, mpsc};

use rusqlite::Transaction;
use tokio::sync::oneshot;

use super::thread::{CALLING, COMMITTING, Command, Open, ROLLING_BACK};
use crate::error::{ErrorKind, SqliteError};
use crate::site::Site;
use crate::step;

/// A write transaction that stays open across awaits.
///
/// It lives on a thread and a connection of its own; this is the way to it.
/// While it is open nothing else is written to the file: keep it short.
/// Dropping the handle rolls it back.
#[must_use = "a transaction that is dropped is rolled back"]
pub struct TransactionHandle {
    commands: mpsc::Sender<Command>,
    site: Arc<Site>,
}

impl TransactionHandle {
    pub(super) fn new(commands: mpsc::Sender<Command>, site: Arc<Site>) -> Self {
        Self { commands, site }
    }

    /// Runs `work` inside the transaction, whole or not at all: when it fails
    /// or panics, what it changed is undone and the transaction can go on.
    ///
    /// `work` must pass on errors of SQLite and must not end the transaction.
    /// It runs on a thread that serves this transaction alone, and may block.
    ///
    /// # Errors
    ///
    /// What `work` returned, classified; [`ErrorKind::Panicked`]. Some errors,
    /// a full disk among them, make SQLite roll back the whole transaction: then
    /// each further call and the commit fail with the same kind.
    ///
    /// # Cancel safety
    ///
    /// Once polled, `work` runs even if the future is dropped. The transaction
    /// stays open and holds what `work` changed.
    pub async fn call<T, F>(&self, work: F) -> Result<T, SqliteError>
    where
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (reply, answer) = oneshot::channel();
        let call = move |open: &mut Open<'_>| {
            let _ = reply.send(open.step(|tx, site| step::run(tx, site, CALLING, work)));
        };
        self.send(Command::Call(Box::new(call)), answer, CALLING)
            .await
    }

    /// Stores everything, or nothing.
    ///
    /// # Errors
    ///
    /// When SQLite refuses the commit, or rolled the transaction back earlier.
    /// Nothing is stored then, unless [`SqliteError::outcome_unknown`] says so.
    ///
    /// # Cancel safety
    ///
    /// Dropped before it was polled, it rolls back. Once polled, the commit is
    /// under way and is not undone.
    pub async fn commit(self) -> Result<(), SqliteError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Commit(reply), answer, COMMITTING).await
    }

    /// Undoes everything, and returns once the write lock is given up.
    ///
    /// # Errors
    ///
    /// When SQLite reports one. Nothing is stored in any case.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future rolls back too.
    pub async fn rollback(self) -> Result<(), SqliteError> {
        let (reply, answer) = oneshot::channel();
        self.send(Command::Rollback(reply), answer, ROLLING_BACK)
            .await
    }

    async fn send<T>(
        &self,
        command: Command,
        answer: oneshot::Receiver<Result<T, SqliteError>>,
        operation: &'static str,
    ) -> Result<T, SqliteError> {
        let gone = || self.site.fault(ErrorKind::Closed, operation);
        self.commands.send(command).map_err(|_| gone())?;
        answer
            .await
            .unwrap_or_else(|_| Err(gone().with_unknown_outcome()))
    }
}

impl fmt::Debug for TransactionHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransactionHandle")
            .field("path", self.site.path())
            .finish_non_exhaustive()
    }
}
