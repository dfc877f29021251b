use std::path::Path;

use nimbus_sqlite::rusqlite::{Connection, params};
use nimbus_sqlite::{Database, OpenOptions, Schema, SqliteError, TransactionHandle};

/// One run of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The session of the event.
    pub session: String,
    /// The event's place in its session.
    pub number: u32,
    /// The process that ran the handler.
    pub process: String,
}

/// The effects of handlers, in the order in which they became durable; each run leaves a row, so
/// that a second run shows.
#[derive(Debug, Clone)]
pub struct Ledger(Database);

impl Ledger {
    /// Opens the ledger of a test.
    ///
    /// # Errors
    ///
    /// When the file can't be opened.
    pub async fn open(directory: &Path) -> Result<Self, SqliteError> {
        let database = Database::open(directory.join("ledger.db"), OpenOptions::default()).await?;
        let schema = Schema::new("ledger").with_table("entries").with_step(
            "CREATE TABLE IF NOT EXISTS entries (
                 place INTEGER PRIMARY KEY AUTOINCREMENT,
                 session TEXT NOT NULL,
                 number INTEGER NOT NULL,
                 process TEXT NOT NULL
             ) STRICT;",
        );
        database.ensure_schema(schema).await?;
        Ok(Self(database))
    }

    /// The database, for an inbox that is in the same file.
    #[must_use]
    pub fn database(&self) -> &Database {
        &self.0
    }

    /// Adds a row; durable when it returns.
    ///
    /// # Errors
    ///
    /// When the row can't be written.
    pub async fn enter(&self, entry: Entry) -> Result<(), SqliteError> {
        self.0.write(move |tx| insert(tx, &entry)).await?;
        Ok(())
    }

    /// Adds a row that becomes durable with the transaction.
    ///
    /// # Errors
    ///
    /// When the row can't be written.
    pub async fn enter_in(tx: &mut TransactionHandle, entry: Entry) -> Result<(), SqliteError> {
        tx.call(move |tx| insert(tx, &entry)).await?;
        Ok(())
    }

    /// Every row, in order.
    ///
    /// # Errors
    ///
    /// When the rows can't be read.
    pub async fn entries(&self) -> Result<Vec<Entry>, SqliteError> {
        self.0
            .read(|connection| {
                connection
                    .prepare_cached("SELECT session, number, process FROM entries ORDER BY place")?
                    .query_map([], |row| {
                        Ok(Entry {
                            session: row.get(0)?,
                            number: row.get(1)?,
                            process: row.get(2)?,
                        })
                    })?
                    .collect()
            })
            .await
    }
}

fn insert(connection: &Connection, entry: &Entry) -> nimbus_sqlite::rusqlite::Result<usize> {
    connection
        .prepare_cached("INSERT INTO entries (session, number, process) VALUES (?1, ?2, ?3)")?
        .execute(params![entry.session, entry.number, entry.process])
}
