//! The record inside the handler's own transaction (INB-41).

use std::sync::Arc;

use nimbus_inbox_core::{BoxFuture, Error, InboxKey, Operation, Recorded, Transactional};
use nimbus_sqlite::{Database, TransactionHandle};

use crate::error::misconfigured;
use crate::inbox::SqliteInbox;

/// What the caller brings is the open file: the inbox's own, or another handle to it.
///
/// All transactions of a file stand in one line, so that a claim is first of all a wait for the
/// transaction before it.
impl<'c> Transactional<&'c Database> for SqliteInbox {
    type Lease = Database;
    type Tx<'l> = TransactionHandle;

    fn lease<'a>(&'a self, database: &'c Database) -> BoxFuture<'a, Result<Self::Lease, Error>>
    where
        &'c Database: 'a,
    {
        Box::pin(async move {
            if !is_same_file(database, self.database()) {
                return Err(misconfigured(
                    Operation::Transaction,
                    format!(
                        "the transaction is on {}, and the inbox keeps its records in {}; effects \
                         and record commit together only in one file",
                        database.path().display(),
                        self.database().path().display()
                    ),
                ));
            }
            // Creating the table is a write, which would wait for the transaction.
            self.ensure(Operation::Transaction).await?;
            Ok(database.clone())
        })
    }

    fn begin<'a, 'l: 'a>(
        &'a self,
        lease: &'l mut Self::Lease,
    ) -> BoxFuture<'a, Result<Self::Tx<'l>, Error>> {
        Box::pin(async move {
            lease
                .transaction()
                .await
                .map_err(|error| self.failed(Operation::Transaction, error))
        })
    }

    fn record_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<Vec<Recorded>, Error>> {
        Box::pin(async move {
            let (statements, clock) = (Arc::clone(&self.statements), Arc::clone(&self.clock));
            let keys = keys.to_vec();
            tx.call(move |tx| statements.record(tx, &keys, clock.now()))
                .await
                .map_err(|error| self.failed(Operation::Record, error))
        })
    }

    fn release_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            let (statements, keys) = (Arc::clone(&self.statements), keys.to_vec());
            tx.call(move |tx| statements.release(tx, &keys))
                .await
                .map_err(|error| self.failed(Operation::Transaction, error))
        })
    }

    fn commit<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            tx.commit()
                .await
                .map_err(|error| self.failed(Operation::Transaction, error))
        })
    }

    fn rollback<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            tx.rollback()
                .await
                .map_err(|error| self.failed(Operation::Transaction, error))
        })
    }
}

/// Two paths may lead to one file; they are only resolved where they differ.
fn is_same_file(one: &Database, other: &Database) -> bool {
    let resolved = |database: &Database| database.path().canonicalize().ok();
    one.path() == other.path() || {
        let path = resolved(one);
        path.is_some() && path == resolved(other)
    }
}
