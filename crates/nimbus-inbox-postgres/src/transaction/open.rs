//! An open transaction.

use std::fmt;
use std::ops::{Deref, DerefMut};

use futures_util::TryStreamExt;
use futures_util::future::join;
use nimbus_inbox_core::{Error, InboxKey, Operation, Recorded};
use tokio_postgres::{Client, IsolationLevel, Transaction};

use crate::error::PROVIDER;
use crate::inbox::Records;

/// The transaction that a handler works in; use it as the driver's [`Transaction`].
///
/// The inbox commits it after the handler succeeded. Dropped before, it is rolled back.
pub struct PostgresTransaction<'l> {
    tx: Transaction<'l>,
    /// Cleared when it is over and the connection idle.
    is_busy: Option<&'l mut bool>,
}

impl<'l> PostgresTransaction<'l> {
    /// At `READ COMMITTED`, where a claim that waited sees what was committed meanwhile.
    pub(super) async fn begin(
        records: &Records,
        client: &'l mut Client,
        mut is_busy: Option<&'l mut bool>,
    ) -> Result<Self, Error> {
        if let Some(mark) = &mut is_busy {
            **mark = true;
        }
        let begun = client
            .build_transaction()
            .isolation_level(IsolationLevel::ReadCommitted)
            .read_only(false)
            .start();
        let tx = begun.await;
        let tx = tx.map_err(|error| records.read_failed(Operation::Transaction, error))?;
        Ok(Self { tx, is_busy })
    }

    pub(super) async fn record(
        &self,
        records: &Records,
        keys: &[InboxKey],
    ) -> Result<Vec<Recorded>, Error> {
        let claimed = records.statements().claim(self.tx.client(), keys).await;
        // Nothing of a transaction takes effect before its commit.
        claimed.map_err(|error| records.read_failed(Operation::Record, error))
    }

    pub(super) async fn release(&self, records: &Records, keys: &[InboxKey]) -> Result<(), Error> {
        let released = records.statements().release(self.tx.client(), keys).await;
        released.map_err(|error| records.read_failed(Operation::Transaction, error))
    }

    /// The server answers the commit of a transaction in which a statement failed with a rollback
    /// and no error. A handler that passed over the failure must not be told that it is done, so
    /// a question goes ahead of the commit, in the same round trip: it fails then.
    pub(super) async fn commit(self, records: &Records) -> Result<(), Error> {
        let Self { tx, is_busy } = self;
        let asked = tx.client().simple_query_raw("select 1").await;
        let asked = asked.map_err(|error| records.write_failed(Operation::Transaction, error))?;
        let (sound, committed) = join(asked.try_collect::<Vec<_>>(), tx.commit()).await;
        if let Err(error) = &sound
            && committed.is_ok()
            && error.code().is_some()
        {
            settled(is_busy);
            let context = records.site().passed_over();
            return Err(Error::transient(Operation::Transaction, context).with_provider(PROVIDER));
        }
        sound
            .and(committed)
            .map_err(|error| records.write_failed(Operation::Transaction, error))?;
        settled(is_busy);
        Ok(())
    }

    pub(super) async fn rollback(self, records: &Records) -> Result<(), Error> {
        let rolled_back = self.tx.rollback().await;
        rolled_back.map_err(|error| records.read_failed(Operation::Transaction, error))?;
        settled(self.is_busy);
        Ok(())
    }
}

fn settled(is_busy: Option<&mut bool>) {
    if let Some(mark) = is_busy {
        *mark = false;
    }
}

impl<'l> Deref for PostgresTransaction<'l> {
    type Target = Transaction<'l>;

    fn deref(&self) -> &Transaction<'l> {
        &self.tx
    }
}

/// For savepoints.
impl<'l> DerefMut for PostgresTransaction<'l> {
    fn deref_mut(&mut self) -> &mut Transaction<'l> {
        &mut self.tx
    }
}

impl fmt::Debug for PostgresTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresTransaction")
            .finish_non_exhaustive()
    }
}
