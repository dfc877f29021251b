//! The handle that everything else is reached through.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use rusqlite::Transaction;
use tokio::sync::oneshot;

use crate::error::{ErrorKind, SqliteError};
use crate::open;
use crate::options::OpenOptions;
use crate::schema::Schema;
use crate::shared::Shared;
use crate::stats::Stats;
use crate::transaction::{Begin, TransactionHandle};
use crate::{readers, writer};

/// One SQLite file, opened.
///
/// Cheap to clone; all clones share the threads. When the last is dropped,
/// writes that were queued are finished and the threads end.
#[derive(Clone)]
pub struct Database {
    shared: Arc<Shared>,
}

impl Database {
    /// Opens the file at `path`, and makes it if it doesn't exist. Its directory
    /// must exist.
    ///
    /// A fresh file is marked with an application id. A file with tables and
    /// without an id is taken for the caller's own database and stays unmarked.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::InvalidPath`], [`ErrorKind::CannotOpen`],
    /// [`ErrorKind::ReadOnly`], [`ErrorKind::NotADatabase`],
    /// [`ErrorKind::ForeignFile`], [`ErrorKind::Corrupt`],
    /// [`ErrorKind::OldLibrary`]; [`ErrorKind::Transient`] when the file stays
    /// locked for the busy timeout.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future may leave an empty database behind, and no thread.
    pub async fn open(path: impl AsRef<Path>, options: OpenOptions) -> Result<Self, SqliteError> {
        let shared = Shared::open(open::durable_path(path.as_ref())?, options).await?;
        tracing::debug!(path = %shared.site.path().display(), "opened a SQLite database");
        Ok(Self {
            shared: Arc::new(shared),
        })
    }

    /// Runs `work` in a write transaction and returns once it is committed.
    ///
    /// Writes that are queued at the same time share one commit. Each is whole
    /// or not at all, and fails alone: `work` runs inside a savepoint, and runs
    /// *again* when another's failure cost the group its transaction. Effects of
    /// `work` outside the database must tolerate that.
    ///
    /// `work` must pass on errors of SQLite and must not end the transaction. It
    /// runs on the writer's thread: nothing else is written until it returns.
    ///
    /// # Errors
    ///
    /// What `work` returned, classified; [`ErrorKind::Panicked`];
    /// [`ErrorKind::Transient`] when the write lock didn't come free within the
    /// busy timeout; whatever the commit reports, see
    /// [`SqliteError::outcome_unknown`]; [`ErrorKind::Closed`].
    ///
    /// # Cancel safety
    ///
    /// Once polled, `work` is queued and will run, whole or not at all, whether
    /// or not the future is dropped.
    pub async fn write<T, F>(&self, work: F) -> Result<T, SqliteError>
    where
        F: FnMut(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (job, answer) = writer::job(work, self.shared.options.busy_timeout);
        self.shared
            .writes
            .push(job)
            .map_err(|_| self.closed("writing"))?;
        answer
            .await
            .unwrap_or_else(|_| Err(self.closed("writing").with_unknown_outcome()))
    }

    /// Runs `work` on one snapshot of the file, which holds at least all that
    /// was committed before the call.
    ///
    /// Doesn't wait for writers. `work` can't change anything. A snapshot that
    /// is kept for long keeps the log from being reset.
    ///
    /// # Errors
    ///
    /// What `work` returned, classified; [`ErrorKind::Panicked`];
    /// [`ErrorKind::Closed`].
    ///
    /// # Cancel safety
    ///
    /// Changes nothing, so dropping the future is safe.
    pub async fn read<T, F>(&self, work: F) -> Result<T, SqliteError>
    where
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (job, answer) = readers::job(work);
        self.shared
            .reads
            .push(job)
            .map_err(|_| self.closed("reading"))?;
        answer.await.unwrap_or_else(|_| Err(self.closed("reading")))
    }

    /// Begins a write transaction that the caller holds across awaits.
    ///
    /// Waits until every other transaction and write that came first is over:
    /// in line behind those of this handle for as long as they take, then for
    /// other processes up to [`OpenOptions::with_transaction_wait`].
    ///
    /// # Errors
    ///
    /// [`ErrorKind::Transient`] when another process held the write lock all
    /// that time; [`ErrorKind::Closed`].
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the line, or rolls back.
    pub async fn transaction(&self) -> Result<TransactionHandle, SqliteError> {
        let closed = || self.closed("beginning a transaction");
        let turn = self.shared.gate.turn().await;
        let (reply, answer) = oneshot::channel();
        self.shared
            .begins
            .push(Begin { turn, reply })
            .map_err(|_| closed())?;
        answer.await.unwrap_or_else(|_| Err(closed()))
    }

    /// Brings the file's tables to the latest version of `schema`; safe from
    /// several processes at once.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::SchemaVersion`] when the tables are newer, and those of
    /// [`write`](Self::write).
    ///
    /// # Cancel safety
    ///
    /// All steps are taken or none.
    pub async fn ensure_schema(&self, schema: Schema) -> Result<(), SqliteError> {
        let schema = Arc::new(schema);
        let looking = Arc::clone(&schema);
        let mut standing = self.read(move |tx| looking.inspect(tx)).await?;
        if !standing.is_current() {
            let applying = Arc::clone(&schema);
            standing = self.write(move |tx| applying.apply(tx)).await?;
        }
        standing.into_usable(&schema, &self.shared.site, "creating tables")
    }

    /// Looks whether the tables of `schema` are there, and changes nothing.
    ///
    /// Tables without a recorded version were made by hand and are accepted.
    ///
    /// # Errors
    ///
    /// [`ErrorKind::MissingTable`] naming those that are missing;
    /// [`ErrorKind::SchemaVersion`] when the recorded version is another; those
    /// of [`read`](Self::read).
    ///
    /// # Cancel safety
    ///
    /// Changes nothing, so dropping the future is safe.
    pub async fn verify_schema(&self, schema: Schema) -> Result<(), SqliteError> {
        let schema = Arc::new(schema);
        let looking = Arc::clone(&schema);
        let standing = self.read(move |tx| looking.inspect(tx)).await?;
        standing.into_usable(&schema, &self.shared.site, "looking for tables")
    }

    /// Closes the database for all clones, finishes what was queued and returns
    /// once every connection is closed.
    ///
    /// Waits for open transactions: commit, roll back or drop them.
    ///
    /// # Cancel safety
    ///
    /// The database is closed by the first poll; dropping the future only stops
    /// waiting.
    pub async fn close(&self) {
        self.shared.close();
        self.shared.workers.ended().await;
    }

    /// The absolute path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.shared.site.path()
    }

    /// What the writer has done so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.shared.counters.read()
    }

    fn closed(&self, operation: &'static str) -> SqliteError {
        self.shared.site.fault(ErrorKind::Closed, operation)
    }
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("path", self.shared.site.path())
            .finish_non_exhaustive()
    }
}
