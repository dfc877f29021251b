//! Transactions of an application that has sqlx.
//!
//! A pooled connection of sqlx 0.9.0 whose `begin` was dropped can stay in the transaction that
//! was begun, for whoever gets it next. So a connection goes back to its pool only after its
//! transaction ended, and is closed otherwise.

use std::collections::HashSet;
use std::fmt;
use std::ops::{Deref, DerefMut};

use nimbus_inbox_core::{BoxFuture, Error, InboxKey, Operation, Recorded, Transactional};
use sqlx::pool::PoolConnection;
use sqlx::{AssertSqlSafe, Connection, PgConnection, PgPool, Postgres, Row, Transaction};

use crate::error::{PROVIDER, Phase};
use crate::inbox::{Entries, PostgresInbox, recorded};

/// A connection of the application's pool, for one transaction.
pub struct SqlxLease {
    connection: PoolConnection<Postgres>,
    is_busy: bool,
}

impl Drop for SqlxLease {
    fn drop(&mut self) {
        if self.is_busy {
            self.connection.close_on_drop();
        }
    }
}

/// The transaction that a handler works in: `&mut **tx` is the connection that sqlx executes on.
///
/// The inbox commits it after the handler succeeded. Dropped before, it is rolled back, and its
/// connection closed.
pub struct SqlxTransaction<'l> {
    tx: Transaction<'l, Postgres>,
    is_busy: &'l mut bool,
}

impl PostgresInbox {
    /// As [`record_in`](Self::record_in), in a transaction of sqlx: give it `&mut *tx`.
    ///
    /// # Errors
    ///
    /// As [`record_in`](Self::record_in).
    ///
    /// # Cancel safety
    ///
    /// As [`record_in`](Self::record_in).
    pub async fn record_in_sqlx(
        &self,
        tx: &mut PgConnection,
        keys: &[InboxKey],
    ) -> Result<Vec<Recorded>, Error> {
        self.claim_sqlx(tx, keys, Phase::Writing).await
    }

    async fn claim_sqlx(
        &self,
        connection: &mut PgConnection,
        keys: &[InboxKey],
        phase: Phase,
    ) -> Result<Vec<Recorded>, Error> {
        let entries = Entries::of(keys);
        let statement = self.records.statements().claim_text().to_owned();
        let rows = sqlx::query(AssertSqlSafe(statement))
            .bind(entries.hashes)
            .bind(entries.endpoints)
            .bind(entries.messages)
            // A statement that is kept on the server is lost where a pooler changes servers.
            .persistent(false)
            .fetch_all(connection)
            .await;
        let found = rows.and_then(|rows| {
            let hashes = rows.iter().map(|row| row.try_get::<Vec<u8>, _>(0));
            hashes.collect::<Result<Vec<_>, _>>()
        });
        let site = self.records.site();
        let found = found.map_err(|error| site.sqlx_failed(Operation::Record, error, phase))?;
        let created: HashSet<&[u8]> = found.iter().map(Vec::as_slice).collect();
        Ok(recorded(keys, created))
    }

    fn sqlx_failed(&self, error: sqlx::Error, phase: Phase) -> Error {
        let site = self.records.site();
        site.sqlx_failed(Operation::Transaction, error, phase)
    }
}

/// What the caller brings is its pool to the inbox's database, which is up to the caller.
impl<'c> Transactional<&'c PgPool> for PostgresInbox {
    type Lease = SqlxLease;
    type Tx<'l> = SqlxTransaction<'l>;

    fn lease<'a>(&'a self, pool: &'c PgPool) -> BoxFuture<'a, Result<Self::Lease, Error>>
    where
        &'c PgPool: 'a,
    {
        Box::pin(async move {
            self.records.ensure(Operation::Transaction).await?;
            let connection = pool.acquire().await;
            Ok(SqlxLease {
                connection: connection
                    .map_err(|error| self.sqlx_failed(error, Phase::Connecting))?,
                is_busy: false,
            })
        })
    }

    fn begin<'a, 'l: 'a>(
        &'a self,
        lease: &'l mut Self::Lease,
    ) -> BoxFuture<'a, Result<Self::Tx<'l>, Error>> {
        let SqlxLease {
            connection,
            is_busy,
        } = lease;
        Box::pin(async move {
            *is_busy = true;
            // Where a claim that waited sees what was committed meanwhile.
            let begun = connection.begin_with("begin isolation level read committed read write");
            let tx = begun.await;
            let tx = tx.map_err(|error| self.sqlx_failed(error, Phase::Reading))?;
            Ok(SqlxTransaction { tx, is_busy })
        })
    }

    fn record_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<Vec<Recorded>, Error>> {
        // Nothing of a transaction takes effect before its commit.
        Box::pin(self.claim_sqlx(tx, keys, Phase::Reading))
    }

    fn release_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let statement = self.records.statements().release_text().to_owned();
            let hashes: Vec<&[u8]> = keys
                .iter()
                .map(|key| &key.identity().as_bytes()[..])
                .collect();
            let released = sqlx::query(AssertSqlSafe(statement))
                .bind(hashes)
                .persistent(false)
                .execute(&mut **tx)
                .await;
            released.map_err(|error| self.sqlx_failed(error, Phase::Reading))?;
            Ok(())
        })
    }

    fn commit<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let SqlxTransaction { mut tx, is_busy } = tx;
            // The server answers the commit of a failed transaction with a rollback and no error.
            let asked = sqlx::query("select 1").persistent(false);
            if let Err(error) = asked.execute(&mut *tx).await {
                if error.as_database_error().is_none() {
                    return Err(self.sqlx_failed(error, Phase::Reading));
                }
                let context = self.records.site().passed_over();
                return Err(
                    Error::transient(Operation::Transaction, context).with_provider(PROVIDER)
                );
            }
            tx.commit()
                .await
                .map_err(|error| self.sqlx_failed(error, Phase::Writing))?;
            *is_busy = false;
            Ok(())
        })
    }

    fn rollback<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let SqlxTransaction { tx, is_busy } = tx;
            tx.rollback()
                .await
                .map_err(|error| self.sqlx_failed(error, Phase::Reading))?;
            *is_busy = false;
            Ok(())
        })
    }
}

impl Deref for SqlxTransaction<'_> {
    type Target = PgConnection;

    fn deref(&self) -> &PgConnection {
        &self.tx
    }
}

impl DerefMut for SqlxTransaction<'_> {
    fn deref_mut(&mut self) -> &mut PgConnection {
        &mut self.tx
    }
}

impl fmt::Debug for SqlxTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlxTransaction").finish_non_exhaustive()
    }
}

impl fmt::Debug for SqlxLease {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqlxLease").finish_non_exhaustive()
    }
}
