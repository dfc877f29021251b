//! Stores that can record inside the handler's own transaction (INB-41).

use std::future::Future;
use std::pin::Pin;

use crate::{Error, InboxKey, InboxStore, Recorded};

/// A future in a box.
pub type BoxFuture<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// A store whose record can be part of a transaction in the same database, so that the handler's
/// effects and the record commit together (INB-41).
///
/// `C` is what the caller brings, such as a reference to a pool. The methods return boxed futures
/// and the transaction type has no where clause, so that
/// [`process_in`](crate::Inbox::process_in) can run inside `tokio::spawn`.
///
/// # Cancel safety
///
/// A transaction that is dropped without [`commit`](Self::commit) must be rolled back, or its
/// connection given up, before anyone else uses the connection. The inbox relies on it: it drops
/// the transaction when the handler's future is dropped, when the handler panics, and when a step
/// times out.
pub trait Transactional<C>: InboxStore {
    /// What a transaction borrows from, such as a pooled connection.
    type Lease: Send;

    /// An open transaction; the handler gets it by mutable reference.
    type Tx<'l>: Send;

    /// Obtains the connection.
    fn lease<'a>(&'a self, connection: C) -> BoxFuture<'a, Result<Self::Lease, Error>>
    where
        C: 'a;

    /// Opens a transaction.
    fn begin<'a, 'l: 'a>(
        &'a self,
        lease: &'l mut Self::Lease,
    ) -> BoxFuture<'a, Result<Self::Tx<'l>, Error>>;

    /// Records the keys in order, in the transaction. This is the claim: it waits while another
    /// open transaction holds one of the keys, and says [`Recorded::Already`] once that one has
    /// committed.
    fn record_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<Vec<Recorded>, Error>>;

    /// Deletes keys that this transaction recorded, for a handler that hands off (INB-13).
    fn release_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<(), Error>>;

    /// Commits. [`OutcomeUnknown`](crate::ErrorKind::OutcomeUnknown) when the answer was lost.
    fn commit<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>>;

    /// Rolls back, records included.
    fn rollback<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>>;
}
