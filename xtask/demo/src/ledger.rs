//! The books of billing: what handlers did, one row an execution, so that a second one shows.

use std::path::Path;

use nimbus_sqlite::rusqlite::{self, Row, params};
use nimbus_sqlite::{Database, OpenOptions, Schema, SqliteError};

use crate::billing::Booking;

const TABLE: &str = "create table if not exists ledger_entry (
    entry integer not null primary key autoincrement,
    publication integer not null,
    message_id text,
    session_id text,
    event_type text not null,
    account text not null,
    currency text,
    amount_minor integer not null,
    run integer not null
) strict";

/// A database file of its own: its commits know nothing of the inbox's.
#[derive(Debug, Clone)]
pub(crate) struct Ledger(Database);

/// One execution of a handler.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Execution {
    /// Number of the publication that it handled.
    pub(crate) publication: usize,
    pub(crate) message_id: Option<String>,
    pub(crate) session: Option<String>,
    /// Which consumer process did it, from 1.
    pub(crate) run: u32,
}

impl Ledger {
    pub(crate) async fn open(directory: &Path) -> Result<Self, SqliteError> {
        let database = Database::open(directory.join("ledger.db"), OpenOptions::default()).await?;
        let schema = Schema::new("ledger")
            .with_table("ledger_entry")
            .with_step(TABLE);
        database.ensure_schema(schema).await?;
        Ok(Self(database))
    }

    /// Durable once it returns.
    pub(crate) async fn enter(
        &self,
        execution: Execution,
        event_type: &'static str,
        booking: Booking,
    ) -> Result<(), SqliteError> {
        self.0
            .write(move |tx| {
                tx.prepare_cached(
                    "insert into ledger_entry (publication, message_id, session_id, event_type,
                         account, currency, amount_minor, run)
                     values (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
                )?
                .execute(params![
                    i64::try_from(execution.publication).unwrap_or(i64::MAX),
                    execution.message_id,
                    execution.session,
                    event_type,
                    booking.account,
                    booking.currency,
                    booking.amount_minor,
                    execution.run,
                ])
                .map(drop)
            })
            .await
    }

    /// Every execution, in the order of their commits.
    pub(crate) async fn executions(&self) -> Result<Vec<Execution>, SqliteError> {
        self.0
            .read(|tx| {
                tx.prepare_cached(
                    "select publication, message_id, session_id, run from ledger_entry
                     order by entry",
                )?
                .query_map((), execution)?
                .collect()
            })
            .await
    }
}

fn execution(row: &Row<'_>) -> rusqlite::Result<Execution> {
    Ok(Execution {
        publication: usize::try_from(row.get::<_, i64>(0)?).unwrap_or(usize::MAX),
        message_id: row.get(1)?,
        session: row.get(2)?,
        run: row.get(3)?,
    })
}
