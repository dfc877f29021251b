use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use nimbus_inbox_core::InboxKey;
use nimbus_sqlite::rusqlite::{Connection, OptionalExtension, params};

/// What one writes without a library: one connection behind a mutex, a SELECT and an INSERT, each
/// its own transaction, on the provider's pragmas and the provider's columns.
pub(super) struct ByHand(Mutex<Connection>);

impl ByHand {
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let connection = Connection::open(path)?;
        connection.execute_batch(
            "PRAGMA journal_mode = WAL;
             PRAGMA synchronous = FULL;
             PRAGMA busy_timeout = 5000;
             CREATE TABLE inbox (
                 identity_hash BLOB PRIMARY KEY,
                 endpoint_id TEXT NOT NULL,
                 message_id TEXT NOT NULL,
                 created_at INTEGER NOT NULL
             ) STRICT;
             CREATE INDEX inbox_by_age ON inbox (endpoint_id, created_at);",
        )?;
        Ok(Self(Mutex::new(connection)))
    }

    pub(super) fn check_and_record(&self, key: &InboxKey) -> anyhow::Result<()> {
        let connection = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let hash = key.identity().as_bytes();
        let found: Option<i64> = connection
            .prepare_cached("SELECT created_at FROM inbox WHERE identity_hash = ?1")?
            .query_row(params![hash], |row| row.get(0))
            .optional()?;
        if found.is_none() {
            let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_micros();
            connection
                .prepare_cached("INSERT OR IGNORE INTO inbox VALUES (?1, ?2, ?3, ?4)")?
                .execute(params![
                    hash,
                    key.endpoint().as_str(),
                    key.message_id().as_str(),
                    i64::try_from(now)?
                ])?;
        }
        Ok(())
    }
}
