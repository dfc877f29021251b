//! Transactions of the store in memory.

use std::fmt;
use std::sync::Arc;

use nimbus_inbox_core::{BoxFuture, Error, InboxKey, Recorded, Transactional};
use tokio::sync::OwnedMutexGuard;

use super::InMemoryInbox;

/// An open transaction of an [`InMemoryInbox`]; dropped without a commit it has no effect.
///
/// One is open at a time, as on a database with one writer.
pub struct InMemoryTransaction<'l> {
    _writer: &'l mut OwnedMutexGuard<()>,
    claimed: Vec<InboxKey>,
    effects: Vec<Box<dyn FnOnce() + Send>>,
}

impl InMemoryTransaction<'_> {
    /// Does something when the transaction commits, together with its records.
    pub fn on_commit(&mut self, effect: impl FnOnce() + Send + 'static) {
        self.effects.push(Box::new(effect));
    }
}

impl fmt::Debug for InMemoryTransaction<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InMemoryTransaction")
            .field("claimed", &self.claimed)
            .field("effects", &self.effects.len())
            .finish_non_exhaustive()
    }
}

/// There is no connection to bring.
impl Transactional<()> for InMemoryInbox {
    type Lease = OwnedMutexGuard<()>;
    type Tx<'l> = InMemoryTransaction<'l>;

    fn lease<'a>(&'a self, (): ()) -> BoxFuture<'a, Result<Self::Lease, Error>>
    where
        (): 'a,
    {
        Box::pin(async { Ok(Arc::clone(self.writer()).lock_owned().await) })
    }

    fn begin<'a, 'l: 'a>(
        &'a self,
        lease: &'l mut Self::Lease,
    ) -> BoxFuture<'a, Result<Self::Tx<'l>, Error>> {
        Box::pin(async {
            Ok(InMemoryTransaction {
                _writer: lease,
                claimed: Vec::new(),
                effects: Vec::new(),
            })
        })
    }

    fn record_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<Vec<Recorded>, Error>> {
        Box::pin(async {
            let claims = keys.iter().map(|key| {
                if tx.claimed.contains(key) || self.is_recorded(key) {
                    return Recorded::Already;
                }
                tx.claimed.push(key.clone());
                Recorded::Now
            });
            Ok(claims.collect())
        })
    }

    fn release_in<'a, 'l: 'a>(
        &'a self,
        tx: &'a mut Self::Tx<'l>,
        keys: &'a [InboxKey],
    ) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async {
            tx.claimed.retain(|key| !keys.contains(key));
            Ok(())
        })
    }

    fn commit<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            for key in &tx.claimed {
                self.record_key(key);
            }
            for effect in tx.effects {
                effect();
            }
            Ok(())
        })
    }

    fn rollback<'a, 'l: 'a>(&'a self, tx: Self::Tx<'l>) -> BoxFuture<'a, Result<(), Error>> {
        Box::pin(async move {
            drop(tx);
            Ok(())
        })
    }
}
