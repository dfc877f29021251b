use std::future::Future;

use crate::{Error, InboxKey, InboxStore, Operation, Recorded, Timestamp};

/// Single forms of the batch operations, for every [`InboxStore`].
pub trait InboxStoreExt: InboxStore {
    /// When `key` was first recorded, or `None` if it was not.
    ///
    /// # Errors
    ///
    /// As [`InboxStore::check`].
    ///
    /// # Cancel safety
    ///
    /// Reads only; dropping it has no effect.
    fn check_one<'a>(
        &'a self,
        key: &'a InboxKey,
    ) -> impl Future<Output = Result<Option<Timestamp>, Error>> + Send + 'a {
        async move {
            let answers = self.check(std::slice::from_ref(key)).await?;
            single(answers, self.provider(), Operation::Check)
        }
    }

    /// Records `key`.
    ///
    /// # Errors
    ///
    /// As [`InboxStore::record`].
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves either no record or a whole one (INB-25).
    fn record_one<'a>(
        &'a self,
        key: &'a InboxKey,
    ) -> impl Future<Output = Result<Recorded, Error>> + Send + 'a {
        async move {
            let answers = self.record(std::slice::from_ref(key)).await?;
            single(answers, self.provider(), Operation::Record)
        }
    }
}

impl<S: InboxStore + ?Sized> InboxStoreExt for S {}

/// A provider that answers a batch of one with another number of answers is broken; its answer
/// must not pass for "not processed".
fn single<T>(answers: Vec<T>, provider: &'static str, operation: Operation) -> Result<T, Error> {
    let count = answers.len();
    let mut answers = answers.into_iter();
    match (answers.next(), answers.next()) {
        (Some(answer), None) => Ok(answer),
        _ => Err(Error::transient(
            operation,
            format!("the provider answered one key with {count} answers"),
        )
        .with_provider(provider)),
    }
}
