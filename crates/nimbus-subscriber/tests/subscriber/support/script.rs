use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use nimbus_inbox_testing::InMemoryTransaction;
use nimbus_subscriber::{HandlerContext, HandlerError};
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct OrderPlaced {
    pub(crate) order: String,
}

type Step = Box<dyn FnOnce(HandlerContext) -> BoxFuture<'static, Outcome> + Send>;
type Outcome = Result<(), HandlerError>;

/// What the handlers of a test do, order by order, and what they did.
///
/// An order without steps left succeeds.
#[derive(Clone, Default)]
pub(crate) struct Script(Arc<Mutex<Played>>);

#[derive(Default)]
struct Played {
    steps: BTreeMap<String, VecDeque<Step>>,
    begun: Vec<String>,
    done: Vec<String>,
}

impl Script {
    /// What the next run of this order's handler does.
    pub(crate) fn next<F, Fut>(&self, order: &str, step: F)
    where
        F: FnOnce(HandlerContext) -> Fut + Send + 'static,
        Fut: Future<Output = Outcome> + Send + 'static,
    {
        let step: Step = Box::new(move |context| step(context).boxed());
        let mut played = self.played();
        played
            .steps
            .entry(order.to_owned())
            .or_default()
            .push_back(step);
    }

    /// The next `times` runs of this order's handler fail with `no stock`.
    pub(crate) fn fail(&self, order: &str, times: usize) {
        for _ in 0..times {
            self.next(order, async |_| Err(HandlerError::new("no stock")));
        }
    }

    /// The orders whose handler began, in order.
    pub(crate) fn begun(&self) -> Vec<String> {
        self.played().begun.clone()
    }

    /// The orders whose handler returned success, in order: its effects.
    pub(crate) fn done(&self) -> Vec<String> {
        self.played().done.clone()
    }

    pub(crate) async fn play(self, event: OrderPlaced, context: HandlerContext) -> Outcome {
        self.step(&event, context).await?;
        self.played().done.push(event.order);
        Ok(())
    }

    /// As [`play`](Self::play), with the effect in a transaction.
    pub(crate) async fn play_in(
        self,
        tx: &mut InMemoryTransaction<'_>,
        event: OrderPlaced,
        context: HandlerContext,
    ) -> Outcome {
        let script = self.clone();
        let order = event.order.clone();
        tx.on_commit(move || script.played().done.push(order));
        self.step(&event, context).await
    }

    async fn step(&self, event: &OrderPlaced, context: HandlerContext) -> Outcome {
        let step = {
            let mut played = self.played();
            played.begun.push(event.order.clone());
            let steps = played.steps.get_mut(&event.order);
            steps.and_then(VecDeque::pop_front)
        };
        match step {
            Some(step) => step(context).await,
            None => Ok(()),
        }
    }

    fn played(&self) -> MutexGuard<'_, Played> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
