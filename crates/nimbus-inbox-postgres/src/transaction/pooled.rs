//! Transactions on a pool.

use deadpool_postgres::Pool;
use nimbus_inbox_core::{BoxFuture, Error, InboxKey, Operation, Recorded, Transactional};

use super::{PostgresLease, PostgresTransaction};
use crate::inbox::PostgresInbox;

/// What the caller brings is a pool: [the inbox's own](PostgresInbox::pool), or another one to the
/// same database, which is up to the caller.
impl<'c> Transactional<&'c Pool> for PostgresInbox {
    type Lease = PostgresLease;
    type Tx<'l> = PostgresTransaction<'l>;

    fn lease<'a>(&'a self, pool: &'c Pool) -> BoxFuture<'a, Result<Self::Lease, Error>>
    where
        &'c Pool: 'a,
    {
        Box::pin(async move {
            self.records.ensure(Operation::Transaction).await?;
            let leased = self.records.lease(pool, Operation::Transaction).await?;
            Ok(PostgresLease(leased))
        })
    }

    fn begin<'a, 'l: 'a>(
        &'a self,
        lease: &'l mut Self::Lease,
    ) -> BoxFuture<'a, Result<Self::Tx<'l>, Error>> {
        let (client, is_busy) = lease.0.parts();
        Box::pin(PostgresTransaction::begin(
            &self.records,
            client,
            Some(is_busy),
        ))
    }

    fn record_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<Vec<Recorded>, Error>> {
        Box::pin(tx.record(&self.records, keys))
    }

    fn release_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(tx.release(&self.records, keys))
    }

    fn commit<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(tx.commit(&self.records))
    }

    fn rollback<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(tx.rollback(&self.records))
    }
}
