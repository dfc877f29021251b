use tokio::sync::oneshot;

use crate::{Error, InboxKey};

/// One caller's keys and where its answer goes. An item is never split or reordered.
pub(super) struct Item<A> {
    keys: Vec<InboxKey>,
    caller: oneshot::Sender<Result<Vec<A>, Error>>,
}

pub(super) type Answer<A> = oneshot::Receiver<Result<Vec<A>, Error>>;

impl<A> Item<A> {
    pub(super) fn new(keys: &[InboxKey]) -> (Self, Answer<A>) {
        let (caller, answer) = oneshot::channel();
        let keys = keys.to_vec();
        (Self { keys, caller }, answer)
    }

    pub(super) fn keys(&self) -> &[InboxKey] {
        &self.keys
    }

    /// A caller that was dropped needs no answer.
    pub(super) fn is_abandoned(&self) -> bool {
        self.caller.is_closed()
    }

    /// Waits until the caller is dropped.
    pub(super) async fn abandoned(&mut self) {
        self.caller.closed().await;
    }

    pub(super) fn answer(self, answer: Result<Vec<A>, Error>) {
        // Nobody is left to care when the caller was dropped.
        let _ = self.caller.send(answer);
    }
}
