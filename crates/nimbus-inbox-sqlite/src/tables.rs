//! Tables that are made, or found, at their first use (INB-27).

use std::sync::atomic::{AtomicBool, Ordering};

use nimbus_sqlite::{Database, ErrorKind, Schema, SqliteError};

/// The tables of one part of this crate in one file.
#[derive(Debug)]
pub(crate) struct Tables {
    database: Database,
    schema: Schema,
    auto_create: bool,
    /// Whether they were seen; they are looked for again after one was missed.
    is_ready: AtomicBool,
}

/// Why the tables can't be used.
#[derive(Debug)]
pub(crate) enum Unusable {
    File(SqliteError),
    /// What is wrong and what to do.
    Encoding(String),
}

impl Tables {
    pub(crate) fn new(database: Database, schema: Schema, auto_create: bool) -> Self {
        Self {
            database,
            schema,
            auto_create,
            is_ready: AtomicBool::new(false),
        }
    }

    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// Looks for the tables unless they were seen before.
    pub(crate) async fn ensure(&self) -> Result<(), Unusable> {
        if self.is_ready.load(Ordering::Acquire) {
            return Ok(());
        }
        self.look().await
    }

    /// Looks for the tables, and creates them where that is allowed. Whoever comes at the same
    /// time does the same, which is harmless.
    pub(crate) async fn look(&self) -> Result<(), Unusable> {
        let encoding: String = self
            .database
            .read(|tx| tx.query_row("PRAGMA encoding", (), |row| row.get(0)))
            .await
            .map_err(Unusable::File)?;
        // SQLite replaces some characters as it converts, so that two ids could become one.
        if encoding != "UTF-8" {
            return Err(Unusable::Encoding(format!(
                "the database {} stores text as {encoding}, which can't keep every id byte by \
                 byte; give another file, or convert this one to UTF-8",
                self.database.path().display()
            )));
        }
        let schema = self.schema.clone();
        let found = if self.auto_create {
            self.database.ensure_schema(schema).await
        } else {
            self.database.verify_schema(schema).await
        };
        found.map_err(Unusable::File)?;
        self.is_ready.store(true, Ordering::Release);
        Ok(())
    }

    /// Takes note of an error that came from using the tables.
    pub(crate) fn noticed(&self, error: &SqliteError) {
        if error.kind() == ErrorKind::MissingTable {
            self.is_ready.store(false, Ordering::Release);
        }
    }
}
