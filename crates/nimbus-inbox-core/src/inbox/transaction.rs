//! The inbox around a handler that works in a transaction of the inbox's database (INB-41).

use super::process::handled;
use super::{Admission, CompletionKeys, Inbox, Processed, Routing};
use crate::{Error, InboxKey, InboxStore, Recorded, Transactional};

/// What becomes of the claim of a handler that succeeded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Claim<T> {
    /// The message is done: its record commits with the handler's effects.
    Keep(T),
    /// The message is handed off: the effects commit, the record is deleted before (INB-13).
    Release(T),
}

/// Which record found by the claim makes the delivery a duplicate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DuplicateWhen {
    /// Only its own: first deliveries, retry requests and resubmissions (INB-18).
    OwnRecorded,
    /// Its own or its source's: replayed parked copies (INB-18).
    AnyRecorded,
}

impl DuplicateWhen {
    fn found<'k>(self, keys: &'k CompletionKeys, claimed: &[Recorded]) -> Option<&'k InboxKey> {
        let mut already = keys
            .as_slice()
            .iter()
            .zip(claimed)
            .filter(|(_, recorded)| !recorded.is_now())
            .map(|(key, _)| key);
        match self {
            Self::AnyRecorded => already.next(),
            Self::OwnRecorded => already.find(|key| keys.own() == Some(key)),
        }
    }
}

impl<S: InboxStore + ?Sized> Inbox<S> {
    /// Runs `handler` in a transaction that also records the message: both commit, or neither.
    ///
    /// The record is written first. Of concurrent first deliveries one runs; the others wait, and
    /// are duplicates when it commits or run when it rolls back. The wait counts against the
    /// [store timeout](crate::InboxOptions::store_timeout).
    ///
    /// An unusable id runs the handler in a transaction without a record.
    ///
    /// # Errors
    ///
    /// The handler's error as it was, after a rollback. A transient [`Error`] when the store
    /// can't carry out a step: abandon the message for redelivery.
    ///
    /// # Panics
    ///
    /// A panic of the handler goes on to the caller; the transaction is dropped, which rolls it
    /// back.
    ///
    /// # Cancel safety
    ///
    /// Dropped before the commit began, also after the handler returned `Ok`, the transaction is
    /// dropped and rolled back: neither effects nor record stay. Dropped during the commit, both
    /// or neither stay.
    pub async fn process_in<C, T, E, F>(
        &self,
        connection: C,
        id: &str,
        handler: F,
    ) -> Result<Processed<T>, E>
    where
        S: Transactional<C>,
        F: AsyncFnOnce(&mut S::Tx<'_>) -> Result<T, E>,
        E: From<Error>,
    {
        let keys = match self.admit(Some(id)) {
            Admission::Usable(key) => CompletionKeys::from(key),
            Admission::Bypassed(_) => CompletionKeys::new(None, None),
        };
        self.claiming(
            connection,
            &keys,
            DuplicateWhen::OwnRecorded,
            &Routing::default(),
            handler,
            Claim::Keep,
        )
        .await
    }

    /// As [`process_in`](Self::process_in), with the keys of a delivery that may stand in for
    /// another (INB-15), and with a handler that may hand off. Without keys the handler runs in a
    /// transaction without a record.
    ///
    /// # Errors
    ///
    /// As [`process_in`](Self::process_in).
    ///
    /// # Panics
    ///
    /// As [`process_in`](Self::process_in).
    ///
    /// # Cancel safety
    ///
    /// As [`process_in`](Self::process_in).
    pub async fn process_claims<C, T, E, F>(
        &self,
        connection: C,
        keys: &CompletionKeys,
        duplicate: DuplicateWhen,
        routing: &Routing<'_>,
        handler: F,
    ) -> Result<Processed<T>, E>
    where
        S: Transactional<C>,
        F: AsyncFnOnce(&mut S::Tx<'_>) -> Result<Claim<T>, E>,
        E: From<Error>,
    {
        self.claiming(connection, keys, duplicate, routing, handler, |claim| claim)
            .await
    }

    async fn claiming<C, R, T, E, F>(
        &self,
        connection: C,
        keys: &CompletionKeys,
        duplicate: DuplicateWhen,
        routing: &Routing<'_>,
        handler: F,
        disposition: impl FnOnce(R) -> Claim<T>,
    ) -> Result<Processed<T>, E>
    where
        S: Transactional<C>,
        F: AsyncFnOnce(&mut S::Tx<'_>) -> Result<R, E>,
        E: From<Error>,
    {
        let store = self.store();
        let mut lease = self.step(store.lease(connection)).await?;
        let mut tx = self.step(store.begin(&mut lease)).await?;

        let claimed = if keys.is_empty() {
            Vec::new()
        } else {
            let claim = store.record_in(&mut tx, keys.as_slice());
            self.boundary().claim(keys.as_slice(), claim).await?
        };
        if let Some(found) = duplicate.found(keys, &claimed) {
            self.roll_back::<C>(tx).await;
            self.duplicate_detected(found, None, routing);
            return Ok(Processed::Duplicate);
        }

        match handler(&mut tx).await.map(disposition) {
            Ok(Claim::Keep(value)) => {
                self.step(store.commit(tx)).await?;
                Ok(handled(value, claimed.last().copied()))
            }
            Ok(Claim::Release(value)) => {
                // What was recorded before this transaction stays.
                let ours = keys.as_slice().iter().zip(&claimed);
                let ours: Vec<_> = ours
                    .filter(|(_, recorded)| recorded.is_now())
                    .map(|(key, _)| key.clone())
                    .collect();
                if !ours.is_empty() {
                    self.step(store.release_in(&mut tx, &ours)).await?;
                }
                self.step(store.commit(tx)).await?;
                Ok(handled(value, None))
            }
            Err(error) => {
                self.roll_back::<C>(tx).await;
                Err(error)
            }
        }
    }

    async fn step<T>(
        &self,
        step: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Error> {
        self.boundary().transaction_step(step).await
    }

    /// The outcome is decided already; a failure was logged, and the transaction is gone either
    /// way.
    async fn roll_back<'l, C>(&self, tx: S::Tx<'l>)
    where
        S: Transactional<C>,
    {
        let _ = self.step(self.store().rollback(tx)).await;
    }
}
