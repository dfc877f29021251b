//! Transactions on a connection of the caller's own.

use nimbus_inbox_core::{BoxFuture, Error, InboxKey, Operation, Recorded, Transactional};
use tokio_postgres::Client;

use super::PostgresTransaction;
use crate::inbox::PostgresInbox;

/// What the caller brings is a connection to the inbox's database, which is up to the caller. A
/// transaction that is dropped is rolled back before the connection's next statement.
impl<'c> Transactional<&'c mut Client> for PostgresInbox {
    type Lease = &'c mut Client;
    type Tx<'l> = PostgresTransaction<'l>;

    fn lease<'a>(&'a self, client: &'c mut Client) -> BoxFuture<'a, Result<Self::Lease, Error>>
    where
        &'c mut Client: 'a,
    {
        Box::pin(async move {
            self.records.ensure(Operation::Transaction).await?;
            Ok(client)
        })
    }

    fn begin<'a, 'l: 'a>(
        &'a self,
        lease: &'l mut Self::Lease,
    ) -> BoxFuture<'a, Result<Self::Tx<'l>, Error>> {
        Box::pin(PostgresTransaction::begin(&self.records, lease, None))
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
