//! The statements, each in the caller's transaction.
//!
//! SQLite has no round trips to save: one prepared statement that runs once per key is faster
//! than a list of keys, whose statement has to be prepared for each length.

use nimbus_inbox_core::{EndpointId, InboxKey, PurgeLimit, Recorded, StoreStats, Timestamp};
use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension, Transaction};

use crate::table::TableName;

/// The statements of one table.
#[derive(Debug)]
pub(crate) struct Statements {
    check: String,
    record: String,
    release: String,
    purge: String,
    stats: String,
}

impl Statements {
    pub(crate) fn new(table: &TableName) -> Self {
        Self {
            check: format!("select created_at from {table} where identity_hash = ?1"),
            record: format!(
                "insert into {table} (identity_hash, endpoint_id, message_id, created_at)
                 values (?1, ?2, ?3, ?4) on conflict (identity_hash) do nothing"
            ),
            release: format!("delete from {table} where identity_hash = ?1"),
            // Nobody else writes while it runs, so what it selects is what it deletes.
            purge: format!(
                "delete from {table} where identity_hash in (
                     select identity_hash from {table} where endpoint_id = ?1 and created_at < ?2
                     order by created_at limit ?3
                 )"
            ),
            stats: format!(
                "select count(*), min(created_at), max(created_at) from {table}
                 where endpoint_id = ?1"
            ),
        }
    }

    /// Whether SQLite understands them, which it doesn't if the table is not ours.
    pub(crate) fn compile(&self, connection: &Connection) -> rusqlite::Result<()> {
        [&self.check, &self.record, &self.release, &self.purge]
            .into_iter()
            .try_for_each(|statement| connection.prepare(statement).map(drop))
    }

    pub(crate) fn check(
        &self,
        snapshot: &Connection,
        keys: &[InboxKey],
    ) -> rusqlite::Result<Vec<Option<Timestamp>>> {
        let mut check = snapshot.prepare_cached(&self.check)?;
        keys.iter()
            .map(|key| {
                check
                    .query_row([key.identity().as_bytes()], |row| row.get(0))
                    .optional()
                    .map(|ticks| ticks.map(Timestamp::from_unix_ticks))
            })
            .collect()
    }

    /// Keeps the first creation time: a record that is there is not touched (INB-21).
    pub(crate) fn record(
        &self,
        tx: &Transaction<'_>,
        keys: &[InboxKey],
        now: Timestamp,
    ) -> rusqlite::Result<Vec<Recorded>> {
        let mut record = tx.prepare_cached(&self.record)?;
        keys.iter()
            .map(|key| {
                let inserted = record.execute((
                    key.identity().as_bytes(),
                    key.endpoint().as_str(),
                    key.message_id().as_str(),
                    now.unix_ticks(),
                ))?;
                Ok(match inserted {
                    0 => Recorded::Already,
                    _ => Recorded::Now,
                })
            })
            .collect()
    }

    pub(crate) fn release(&self, tx: &Transaction<'_>, keys: &[InboxKey]) -> rusqlite::Result<()> {
        let mut release = tx.prepare_cached(&self.release)?;
        keys.iter()
            .try_for_each(|key| release.execute([key.identity().as_bytes()]).map(drop))
    }

    pub(crate) fn purge(
        &self,
        tx: &Transaction<'_>,
        endpoint: &EndpointId,
        cutoff: Timestamp,
        limit: PurgeLimit,
    ) -> rusqlite::Result<usize> {
        tx.prepare_cached(&self.purge)?.execute((
            endpoint.as_str(),
            cutoff.unix_ticks(),
            limit.get(),
        ))
    }

    pub(crate) fn stats(
        &self,
        snapshot: &Connection,
        endpoint: &EndpointId,
    ) -> rusqlite::Result<StoreStats> {
        let mut stats = snapshot.prepare_cached(&self.stats)?;
        stats.query_row([endpoint.as_str()], |row| {
            let instant = |ticks: Option<i64>| ticks.map(Timestamp::from_unix_ticks);
            let records: i64 = row.get(0)?;
            let (oldest, newest) = (instant(row.get(1)?), instant(row.get(2)?));
            Ok(StoreStats::new(records.unsigned_abs(), oldest, newest))
        })
    }
}
