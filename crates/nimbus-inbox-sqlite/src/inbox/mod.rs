//! The store.

mod records;
mod store;

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use nimbus_inbox_core::{Clock, Error, InboxKey, Operation, Recorded};
use nimbus_sqlite::rusqlite::{self, Transaction};
use nimbus_sqlite::{Database, SqliteError};
use records::Statements;

use crate::error::{self, misconfigured};
use crate::options::SqliteInboxOptions;
use crate::schema;
use crate::table::TableName;
use crate::tables::{Tables, Unusable};

/// Inbox records in one SQLite file, for the processes of one machine.
///
/// A record is on the disk when the call returns, and several that come together share one
/// commit. Cheap to clone; clones share the file and its threads, which end with the last of them.
#[derive(Clone)]
pub struct SqliteInbox {
    table: TableName,
    tables: Arc<Tables>,
    pub(crate) statements: Arc<Statements>,
    pub(crate) clock: Arc<dyn Clock>,
}

impl SqliteInbox {
    /// Opens the file at `path` with default options, and makes it if it isn't there. Its
    /// directory must exist.
    ///
    /// The table is created at the first use or by
    /// [`verify`](nimbus_inbox_core::InboxStore::verify), whichever comes first.
    ///
    /// # Errors
    ///
    /// As [`open_with`](Self::open_with).
    ///
    /// # Cancel safety
    ///
    /// As [`open_with`](Self::open_with).
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, Error> {
        Self::open_with(path, SqliteInboxOptions::default()).await
    }

    /// Opens the file at `path`.
    ///
    /// # Errors
    ///
    /// A configuration error when the place can't be written, the file is no SQLite database, is
    /// damaged or is marked as another application's; a transient one when other processes keep
    /// it locked.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may leave an empty file behind.
    pub async fn open_with(
        path: impl AsRef<Path>,
        options: SqliteInboxOptions,
    ) -> Result<Self, Error> {
        let database = Database::open(path, options.file.clone())
            .await
            .map_err(|error| error::failed(Operation::Open, &options.table, error))?;
        Ok(Self::on(database, options))
    }

    /// Keeps the records in a file that is open already, beside the tables of its other users.
    ///
    /// What concerns the file itself was decided when it was opened: durability, busy timeout and
    /// page limit of `options` are not used.
    #[must_use]
    pub fn on(database: Database, options: SqliteInboxOptions) -> Self {
        let schema = schema::schema(&options.table);
        Self {
            tables: Arc::new(Tables::new(database, schema, options.auto_create)),
            statements: Arc::new(Statements::new(&options.table)),
            table: options.table,
            clock: options.clock,
        }
    }

    /// The file, for handlers that keep their data in it and for tools.
    #[must_use]
    pub fn database(&self) -> &Database {
        self.tables.database()
    }

    /// Records the keys in order, in a transaction of the caller's own (INB-41).
    ///
    /// Make it the first statement, in a transaction that was begun `IMMEDIATE`: then it waits
    /// while another transaction holds a key, and says [`Recorded::Already`] once that one has
    /// committed; skip the work then. The records commit and roll back with the transaction.
    ///
    /// The table must exist: [`verify`](nimbus_inbox_core::InboxStore::verify) the inbox once
    /// before. The transaction may be on any connection to the inbox's file.
    ///
    /// # Errors
    ///
    /// The driver's, so that it can be called inside
    /// [`Database::write`] and [`TransactionHandle::call`](crate::TransactionHandle::call).
    pub fn record_in(
        &self,
        tx: &Transaction<'_>,
        keys: &[InboxKey],
    ) -> rusqlite::Result<Vec<Recorded>> {
        self.statements.record(tx, keys, self.clock.now())
    }

    /// Makes sure that the table is there before it is used for the first time.
    pub(crate) async fn ensure(&self, operation: Operation) -> Result<(), Error> {
        let found = self.tables.ensure().await;
        found.map_err(|unusable| self.unusable(operation, unusable))
    }

    pub(crate) fn failed(&self, operation: Operation, error: SqliteError) -> Error {
        self.tables.noticed(&error);
        error::failed(operation, &self.table, error)
    }

    fn unusable(&self, operation: Operation, unusable: Unusable) -> Error {
        match unusable {
            Unusable::File(error) => self.failed(operation, error),
            Unusable::Encoding(context) => misconfigured(operation, context),
        }
    }
}

impl fmt::Debug for SqliteInbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteInbox")
            .field("path", &self.database().path())
            .field("table", &self.table.as_str())
            .finish_non_exhaustive()
    }
}
