//! The statements and what their answers mean.
//!
//! Parameters carry their types, so that a statement is one round trip and leaves nothing behind
//! on the server: an aborted `prepare` would leak its statement, and poolers between would have
//! to know of it. Connections may be anywhere in a transaction or outside one.

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use nimbus_inbox_core::{
    Cutoff, EndpointId, InboxKey, PurgeLimit, Recorded, StoreStats, Timestamp,
};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error};

use super::entries::{Entries, recorded};
use crate::instant::{Age, Before, CreatedAt};
use crate::table::Table;
use crate::text::stored;

/// A value and the type it goes as.
type Parameter<'v> = (&'v (dyn ToSql + Sync), Type);

/// The statements of one table.
#[derive(Debug)]
pub(crate) struct Statements {
    check: String,
    record: String,
    claim: String,
    release: String,
    purge_before: Purge,
    purge_older: Purge,
    stats: String,
    /// The type of the creation time.
    time_type: String,
}

/// The purge to a kind of cutoff.
#[derive(Debug)]
struct Purge {
    /// Passes over what others hold, such as other replicas' batches.
    passing: String,
    /// Waits for it.
    waiting: String,
}

impl Statements {
    pub(crate) fn new(table: &Table) -> Self {
        // Rows go in in the order of the arrays.
        let insert = |source: &str| {
            format!(
                "insert into {table} (identity_hash, endpoint_id, message_id)
                 select hash, endpoint, message from {source}
                 on conflict (identity_hash) do nothing returning identity_hash"
            )
        };
        let keys = "unnest($1, $2, $3) as keys (hash, endpoint, message)";
        // The rows are locked before they are deleted, so none can have been deleted and made
        // anew in between. By their place, the server finds them whatever it believes about the
        // size of the table.
        let statement = |cutoff: &str, others: &str| {
            format!(
                "with expired as (
                     select ctid as place from {table}
                     where endpoint_id = $1 and created_at < {cutoff}
                     order by created_at limit $3 for update {others}
                 )
                 delete from {table} where ctid = any (array(select place from expired))"
            )
        };
        let purge = |cutoff: &str| Purge {
            passing: statement(cutoff, "skip locked"),
            waiting: statement(cutoff, ""),
        };
        Self {
            check: format!(
                "select identity_hash, created_at from {table} where identity_hash = any ($1)"
            ),
            // The limit of the wait is set as part of the statement, for it alone.
            record: insert(&format!(
                "(select set_config('lock_timeout', $4, true)) as bounded, {keys}"
            )),
            claim: insert(keys),
            release: format!("delete from {table} where identity_hash = any ($1)"),
            purge_before: purge("$2"),
            purge_older: purge("now() - $2"),
            stats: format!(
                "select count(*), min(created_at), max(created_at) from {table}
                 where endpoint_id = $1"
            ),
            time_type: format!(
                "select atttypid from pg_catalog.pg_attribute
                 where attrelid = '{table}'::regclass and attname = 'created_at'"
            ),
        }
    }

    pub(crate) async fn check(
        &self,
        client: &Client,
        keys: &[InboxKey],
    ) -> Result<Vec<Option<Timestamp>>, Error> {
        let hashes = hashes(keys);
        let rows = client
            .query_typed(&self.check, &[(&hashes, Type::BYTEA_ARRAY)])
            .await?;
        let mut found = HashMap::with_capacity(rows.len());
        for row in &rows {
            let (hash, created): (&[u8], CreatedAt) = (row.try_get(0)?, row.try_get(1)?);
            found.insert(hash, created.0);
        }
        let answers = hashes.iter().map(|hash| found.get(hash).copied());
        Ok(answers.collect())
    }

    /// Records outside of a transaction, waiting at most `patience` for those of others.
    pub(crate) async fn record(
        &self,
        client: &Client,
        keys: &[InboxKey],
        patience: Duration,
    ) -> Result<Vec<Recorded>, Error> {
        let patience = format!("{}ms", patience.as_millis());
        self.insert(client, keys, Some(&patience)).await
    }

    /// Records in the caller's transaction, waiting as long as the session allows.
    pub(crate) async fn claim(
        &self,
        client: &Client,
        keys: &[InboxKey],
    ) -> Result<Vec<Recorded>, Error> {
        self.insert(client, keys, None).await
    }

    async fn insert(
        &self,
        client: &Client,
        keys: &[InboxKey],
        patience: Option<&str>,
    ) -> Result<Vec<Recorded>, Error> {
        let entries = Entries::of(keys);
        let mut parameters: Vec<Parameter<'_>> = vec![
            (&entries.hashes, Type::BYTEA_ARRAY),
            (&entries.endpoints, Type::TEXT_ARRAY),
            (&entries.messages, Type::TEXT_ARRAY),
        ];
        let statement = match &patience {
            Some(patience) => {
                parameters.push((patience, Type::TEXT));
                &self.record
            }
            None => &self.claim,
        };
        let rows = client.query_typed(statement, &parameters).await?;
        let mut created = HashSet::with_capacity(rows.len());
        for row in &rows {
            created.insert(row.try_get::<_, &[u8]>(0)?);
        }
        Ok(recorded(keys, created))
    }

    /// The claim, for other drivers: hashes, endpoints and messages as arrays, in the order of
    /// [`Entries`].
    #[cfg(feature = "sqlx")]
    pub(crate) fn claim_text(&self) -> &str {
        &self.claim
    }

    /// The release of a claim, for other drivers: hashes as an array.
    #[cfg(feature = "sqlx")]
    pub(crate) fn release_text(&self) -> &str {
        &self.release
    }

    pub(crate) async fn release(&self, client: &Client, keys: &[InboxKey]) -> Result<(), Error> {
        let hashes = hashes(keys);
        client
            .execute_typed(&self.release, &[(&hashes, Type::BYTEA_ARRAY)])
            .await
            .map(drop)
    }

    /// Fewer than the limit means that nothing expired was left: where a batch comes back short,
    /// what others held is waited for, and purged if they left it.
    pub(crate) async fn purge(
        &self,
        client: &Client,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error> {
        let endpoint = stored(endpoint.as_str());
        let (before, age);
        let (purge, cutoff): (_, Parameter<'_>) = match cutoff {
            Cutoff::Before(instant) => {
                before = Before(instant);
                (&self.purge_before, (&before, Type::TIMESTAMPTZ))
            }
            Cutoff::OlderThan(duration) => {
                age = Age(duration);
                (&self.purge_older, (&age, Type::INTERVAL))
            }
        };
        let limit = u64::from(limit.get());
        let removed = batch(client, &purge.passing, &endpoint, cutoff.clone(), limit).await?;
        if removed >= limit {
            return Ok(removed);
        }
        let rest = batch(client, &purge.waiting, &endpoint, cutoff, limit - removed).await?;
        Ok(removed + rest)
    }

    pub(crate) async fn stats(
        &self,
        client: &Client,
        endpoint: &EndpointId,
    ) -> Result<StoreStats, Error> {
        let endpoint = stored(endpoint.as_str());
        let row = client
            .query_typed_one(&self.stats, &[(&endpoint, Type::TEXT)])
            .await?;
        let records: i64 = row.try_get(0)?;
        let (oldest, newest): (Option<CreatedAt>, Option<CreatedAt>) =
            (row.try_get(1)?, row.try_get(2)?);
        let instant = |created: CreatedAt| created.0;
        Ok(StoreStats::new(
            records.unsigned_abs(),
            oldest.map(instant),
            newest.map(instant),
        ))
    }

    /// Runs every statement on nothing: the server then understands its table and columns, and
    /// the role may use them. Says whether records are stamped with instants, which the server
    /// would otherwise make out of local times without an error.
    pub(crate) async fn rehearse(&self, client: &Client) -> Result<bool, Error> {
        self.check(client, &[]).await?;
        self.record(client, &[], Duration::from_secs(1)).await?;
        self.release(client, &[]).await?;
        let age = Age(Duration::ZERO);
        let cutoff: Parameter<'_> = (&age, Type::INTERVAL);
        batch(client, &self.purge_older.passing, "", cutoff, 0).await?;
        let found = client.query_typed_one(&self.time_type, &[]).await?;
        Ok(found.try_get::<_, u32>(0)? == Type::TIMESTAMPTZ.oid())
    }
}

async fn batch(
    client: &Client,
    statement: &str,
    endpoint: &str,
    cutoff: Parameter<'_>,
    limit: u64,
) -> Result<u64, Error> {
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let parameters: [Parameter<'_>; 3] = [(&endpoint, Type::TEXT), cutoff, (&limit, Type::INT8)];
    client.execute_typed(statement, &parameters).await
}

fn hashes(keys: &[InboxKey]) -> Vec<&[u8]> {
    keys.iter()
        .map(|key| key.identity().as_bytes().as_slice())
        .collect()
}
