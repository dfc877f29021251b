//! Sending batches and giving each caller its own answer.

use std::panic::AssertUnwindSafe;
use std::pin::pin;

use futures_util::FutureExt;
use futures_util::future::{Either, join_all, select};

use super::item::Item;
use super::lane::Worker;
use crate::boundary::panicked;
use crate::{BoxFuture, Error, InboxKey, Operation};

/// The batch form of the store that a lane calls.
pub(super) type StoreCall<A> =
    Box<dyn Fn(Vec<InboxKey>) -> BoxFuture<'static, Result<Vec<A>, Error>> + Send + Sync>;

/// The task that empties a lane.
pub(super) struct Run<A> {
    pub(super) operation: Operation,
    pub(super) call: StoreCall<A>,
}

impl<A: Send + 'static> Run<A> {
    /// Empties the lane.
    pub(super) async fn until_empty(self, mut worker: Worker<A>) {
        while let Some(batch) = worker.next_batch() {
            self.send(batch).await;
        }
    }

    async fn send(&self, mut batch: Vec<Item<A>>) {
        if batch.len() > 1 {
            let expected: usize = batch.iter().map(|item| item.keys().len()).sum();
            match self.call(&mut batch).await {
                None => return,
                Some(Ok(answers)) if answers.len() == expected => {
                    let mut answers = answers.into_iter();
                    for item in batch {
                        let own = answers.by_ref().take(item.keys().len()).collect();
                        item.answer(Ok(own));
                    }
                    return;
                }
                // Whose key made it fail is not known, and no caller may pay for another's.
                Some(_) => {}
            }
        }
        for item in batch {
            self.send_alone(item).await;
        }
    }

    async fn send_alone(&self, item: Item<A>) {
        if item.is_abandoned() {
            return;
        }
        let mut alone = [item];
        if let Some(answer) = self.call(&mut alone).await {
            let [item] = alone;
            item.answer(answer);
        }
    }

    /// One call of the store with the keys of all items. `None` when the last caller gave up
    /// first: a call that hangs must not hold up those who come after.
    async fn call(&self, items: &mut [Item<A>]) -> Option<Result<Vec<A>, Error>> {
        let keys = items.iter().flat_map(Item::keys).cloned().collect();
        let call = pin!(AssertUnwindSafe(async { (self.call)(keys).await }).catch_unwind());
        let abandoned = pin!(join_all(items.iter_mut().map(Item::abandoned)));
        match select(call, abandoned).await {
            Either::Left((Ok(answer), _)) => Some(answer),
            Either::Left((Err(panic), _)) => Some(Err(panicked(self.operation, panic.as_ref()))),
            Either::Right(_) => None,
        }
    }
}
