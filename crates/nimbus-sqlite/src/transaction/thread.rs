//! The thread that holds open transactions, one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::time::Instant;

use rusqlite::{Connection, Transaction};
use tokio::sync::oneshot;

use super::handle::TransactionHandle;
use crate::classify;
use crate::error::{ErrorKind, SqliteError};
use crate::gate::Turn;
use crate::lock::begin_immediate;
use crate::open::{self, Access};
use crate::options::OpenOptions;
use crate::queue::JobQueue;
use crate::site::Site;
use crate::step;

const BEGINNING: &str = "beginning a transaction";
pub(super) const CALLING: &str = "a call in a transaction";
pub(super) const COMMITTING: &str = "committing a transaction";
pub(super) const ROLLING_BACK: &str = "rolling back a transaction";

/// A transaction to open.
pub(crate) struct Begin {
    /// Held until the transaction is over.
    pub(crate) turn: Turn,
    pub(crate) reply: oneshot::Sender<Result<TransactionHandle, SqliteError>>,
}

pub(super) enum Command {
    Call(Box<dyn FnOnce(&mut Open<'_>) + Send>),
    Commit(oneshot::Sender<Result<(), SqliteError>>),
    Rollback(oneshot::Sender<Result<(), SqliteError>>),
}

/// An open transaction, on its thread.
pub(super) struct Open<'a> {
    tx: Transaction<'a>,
    site: &'a Site,
    /// Why SQLite rolled it back, if it did.
    fate: Option<ErrorKind>,
}

impl Open<'_> {
    /// Without this check, the statements of a transaction that SQLite rolled
    /// back would commit one by one.
    pub(super) fn step<T>(
        &mut self,
        step: impl FnOnce(&Transaction<'_>, &Site) -> Result<T, SqliteError>,
    ) -> Result<T, SqliteError> {
        self.check(CALLING)?;
        let outcome = step(&self.tx, self.site);
        if step::is_over(&self.tx) {
            self.fate = Some(
                outcome
                    .as_ref()
                    .err()
                    .map_or(ErrorKind::Other, SqliteError::kind),
            );
        }
        outcome
    }

    fn check(&self, operation: &'static str) -> Result<(), SqliteError> {
        match self.fate {
            None => Ok(()),
            Some(kind) => Err(self.site.fault(kind, operation).with_detail(
                "an earlier error rolled the transaction back, nothing of it is stored",
            )),
        }
    }

    fn commit(self) -> Result<(), SqliteError> {
        self.check(COMMITTING)?;
        self.tx.commit().map_err(|source| {
            let stored_nothing = classify::commit_stored_nothing(&source);
            let error = SqliteError::from_driver(source, COMMITTING, self.site.path());
            if stored_nothing {
                error
            } else {
                error.with_unknown_outcome()
            }
        })
    }

    fn rollback(self) -> Result<(), SqliteError> {
        if self.fate.is_some() {
            return Ok(());
        }
        self.tx
            .rollback()
            .map_err(|source| SqliteError::from_driver(source, ROLLING_BACK, self.site.path()))
    }
}

/// The body of the thread. One is enough: the gate lets one transaction through
/// at a time.
pub(crate) fn serve(begins: &Arc<JobQueue<Begin>>, site: &Arc<Site>, options: &OpenOptions) {
    let mut idle: Option<Connection> = None;
    while let Some(begin) = begins.pop() {
        let connection = match idle
            .take()
            .map_or_else(|| open::another(site, options, Access::Write), Ok)
        {
            Ok(connection) => connection,
            Err(error) => {
                let _ = begin.reply.send(Err(error));
                continue;
            }
        };
        // What a closure captured or returned may panic while it is dropped.
        // The transaction is rolled back on the way out.
        let _ = catch_unwind(AssertUnwindSafe(|| hold(&connection, begin, site, options)));
        // A connection that is still in a transaction can't begin another.
        idle = connection.is_autocommit().then_some(connection);
    }
}

/// One transaction, from its begin to its end.
fn hold(connection: &Connection, begin: Begin, site: &Arc<Site>, options: &OpenOptions) {
    let Begin { turn: _turn, reply } = begin;
    // Between two tries it is noticed that nobody waits any more.
    let deadline = Instant::now() + options.transaction_wait;
    let tx = match begin_immediate(connection, deadline, || !reply.is_closed()) {
        Ok(tx) => tx,
        Err(source) => {
            let _ = reply.send(Err(site.error(source, BEGINNING, connection)));
            return;
        }
    };
    let mut open = Open {
        tx,
        site,
        fate: None,
    };
    let (commands, inbox) = mpsc::channel();
    if reply
        .send(Ok(TransactionHandle::new(commands, Arc::clone(site))))
        .is_err()
    {
        return;
    }
    // Ends without a commit when the handle is dropped.
    while let Ok(command) = inbox.recv() {
        match command {
            Command::Call(call) => call(&mut open),
            Command::Commit(reply) => {
                let _ = reply.send(open.commit());
                return;
            }
            Command::Rollback(reply) => {
                let _ = reply.send(open.rollback());
                return;
            }
        }
    }
}
