//! Faults in the handler's own transaction.

use nimbus_inbox_core::{BoxFuture, Error, InboxKey, Recorded, Transactional};

use super::{FaultyStore, StoreCall};

/// Begin, claim and commit are calls that rules can meet; a claim counts as a record.
impl<C: 'static, S: Transactional<C>> Transactional<C> for FaultyStore<S> {
    type Lease = S::Lease;
    type Tx<'l> = S::Tx<'l>;

    fn lease<'a>(&'a self, connection: C) -> BoxFuture<'a, Result<Self::Lease, Error>>
    where
        C: 'a,
    {
        self.store().lease(connection)
    }

    fn begin<'a, 'l: 'a>(
        &'a self,
        lease: &'l mut Self::Lease,
    ) -> BoxFuture<'a, Result<Self::Tx<'l>, Error>> {
        let effect = self.store().begin(lease);
        Box::pin(self.call(StoreCall::Begin, effect))
    }

    fn record_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<Vec<Recorded>, Error>> {
        let effect = self.store().record_in(tx, keys);
        Box::pin(self.call(StoreCall::Record(keys), effect))
    }

    fn release_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<(), Error>> {
        self.store().release_in(tx, keys)
    }

    fn commit<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        let effect = self.store().commit(tx);
        Box::pin(self.call(StoreCall::Commit, effect))
    }

    fn rollback<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        self.store().rollback(tx)
    }
}
