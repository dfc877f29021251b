//! Which file, with which tables: what an error needs to know.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rusqlite::Connection;

use crate::classify;
use crate::error::{ErrorKind, SqliteError};
use crate::schema;

pub(crate) struct Site {
    path: Arc<Path>,
    required_tables: Mutex<BTreeSet<String>>,
}

impl Site {
    pub(crate) fn new(path: Arc<Path>) -> Self {
        Self {
            path,
            required_tables: Mutex::default(),
        }
    }

    pub(crate) fn path(&self) -> &Arc<Path> {
        &self.path
    }

    pub(crate) fn fault(&self, kind: ErrorKind, operation: &'static str) -> SqliteError {
        SqliteError::new(kind, operation, &self.path)
    }

    /// Classifies what the driver reported. SQLite has no code for a missing
    /// table: when it blames a statement, `connection` is asked whether the
    /// tables that were there at startup still are.
    pub(crate) fn error(
        &self,
        source: rusqlite::Error,
        operation: &'static str,
        connection: &Connection,
    ) -> SqliteError {
        let missing = if classify::is_statement_mistake(&source) {
            schema::missing_tables(connection, &*self.required()).unwrap_or_default()
        } else {
            Vec::new()
        };
        let error = SqliteError::from_driver(source, operation, &self.path);
        if missing.is_empty() {
            error
        } else {
            error
                .with_kind(ErrorKind::MissingTable)
                .with_detail(missing.join(", "))
        }
    }

    /// From now on, a statement that fails because one of `tables` is gone says
    /// so.
    pub(crate) fn require(&self, tables: &[String]) {
        self.required().extend(tables.iter().cloned());
    }

    fn required(&self) -> std::sync::MutexGuard<'_, BTreeSet<String>> {
        self.required_tables
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}
