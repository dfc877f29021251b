//! The store.

mod entries;
mod records;
mod statements;
mod store;

use std::fmt;
use std::sync::Arc;

use deadpool_postgres::Pool;
use nimbus_inbox_core::{Batching, Error, InboxKey, Operation, Recorded};
use secrecy::SecretString;
use tokio_postgres::Transaction;

#[cfg(feature = "sqlx")]
pub(crate) use entries::{Entries, recorded};
pub(crate) use records::Records;
pub(crate) use statements::Statements;

use crate::connection::PostgresConnection;
use crate::options::PostgresInboxOptions;
use crate::pool;

/// Inbox records in a PostgreSQL database, for services on many machines.
///
/// Cheap to clone; clones share the pool.
#[derive(Clone)]
pub struct PostgresInbox {
    pub(crate) records: Arc<Records>,
    /// The same records behind shared calls, unless that was turned off.
    batching: Option<Arc<Batching<Records>>>,
}

impl PostgresInbox {
    /// An inbox in the database that a connection string names, with default options.
    ///
    /// Nothing is connected yet. Schema and table are created at the first use or by
    /// [`verify`](nimbus_inbox_core::InboxStore::verify), whichever comes first.
    ///
    /// # Errors
    ///
    /// As [`PostgresConnection::parse`] and [`open_with`](Self::open_with).
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has done nothing.
    pub async fn open(connection: impl Into<SecretString>) -> Result<Self, Error> {
        let connection = PostgresConnection::parse(connection)?;
        Self::open_with(connection, PostgresInboxOptions::default()).await
    }

    /// An inbox in the database that `connection` names.
    ///
    /// # Errors
    ///
    /// A configuration error when the connection can't be used as it is given, such as TLS
    /// without trusted certificates.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has done nothing.
    pub async fn open_with(
        connection: PostgresConnection,
        options: PostgresInboxOptions,
    ) -> Result<Self, Error> {
        let (pool, server) = pool::open(&connection, &options).await?;
        Ok(Self::within(pool, server, options))
    }

    /// An inbox on a pool that the program has already.
    ///
    /// What concerns connections was decided when it was built: TLS, size, timeouts. Give its
    /// sessions a `statement_timeout`; the inbox waits no longer than its own
    /// [store timeout](nimbus_inbox_core::InboxOptions::store_timeout), but the server would go
    /// on.
    #[must_use]
    pub fn on(pool: Pool, options: PostgresInboxOptions) -> Self {
        Self::within(pool, "the program's own pool".to_owned(), options)
    }

    fn within(pool: Pool, server: String, options: PostgresInboxOptions) -> Self {
        let batching = options.batching;
        let records = Records::new(pool, server, options);
        Self {
            batching: batching.map(|keys| Arc::new(Batching::with_max_keys(records.clone(), keys))),
            records: Arc::new(records),
        }
    }

    /// The pool, for handlers that keep their data in this database.
    #[must_use]
    pub fn pool(&self) -> &Pool {
        self.records.pool()
    }

    /// Records the keys in a transaction of the caller's own (INB-41).
    ///
    /// Make it the first statement: it waits while another transaction holds a key, and says
    /// [`Recorded::Already`] once that one has committed; skip the work then. The records commit
    /// and roll back with the transaction, which has to be at `READ COMMITTED`: at a higher level
    /// the claim that waited fails instead.
    ///
    /// The table must exist: [`verify`](nimbus_inbox_core::InboxStore::verify) the inbox once
    /// before. That the transaction is on the inbox's own database is up to the caller.
    ///
    /// # Errors
    ///
    /// As [`record`](nimbus_inbox_core::InboxStore::record); the transaction is of no use then.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have recorded in the transaction: roll that back.
    pub async fn record_in(
        &self,
        tx: &Transaction<'_>,
        keys: &[InboxKey],
    ) -> Result<Vec<Recorded>, Error> {
        let claimed = self.records.statements().claim(tx.client(), keys).await;
        claimed.map_err(|error| self.records.write_failed(Operation::Record, error))
    }
}

impl fmt::Debug for PostgresInbox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let site = self.records.site();
        f.debug_struct("PostgresInbox")
            .field("server", &site.server)
            .field("table", &site.tables)
            .field("is_batching", &self.batching.is_some())
            .finish_non_exhaustive()
    }
}
