use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::TransportError;

/// How a delivery ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Settlement {
    /// The work is done; the broker forgets the message.
    Complete,
    /// Deliver again, after a delay during which the message holds the head of its line.
    Abandon {
        /// How long to wait; zero for at once.
        delay: Duration,
    },
    /// Set aside for an operator.
    DeadLetter {
        /// A short, fixed reason.
        reason: String,
        /// What happened, cut to 4,096 characters by the caller (SUB-22).
        description: String,
    },
    /// Keep aside until it is fetched by its sequence number.
    Defer,
}

/// The transport's side of a [`Receipt`].
#[async_trait]
pub trait Settler: Send {
    /// Settles the delivery.
    ///
    /// # Errors
    ///
    /// [`LockLost`](crate::TransportErrorKind::LockLost) when the lock is gone: never success then.
    async fn settle(self: Box<Self>, settlement: Settlement) -> Result<(), TransportError>;
}

/// Runs settlements to their end, each on its own bound.
#[derive(Debug, Clone)]
pub struct SettlementTasks {
    tracker: TaskTracker,
    bound: Duration,
}

impl SettlementTasks {
    /// Settlements get `bound` before they count as failed.
    #[must_use]
    pub fn new(bound: Duration) -> Self {
        Self {
            tracker: TaskTracker::new(),
            bound,
        }
    }

    /// Waits until no settlement runs. Later ones are possible.
    ///
    /// # Cancel safety
    ///
    /// Waits only; dropping it has no effect.
    pub async fn drained(&self) {
        self.tracker.close();
        self.tracker.wait().await;
    }
}

/// The right to settle one delivery once.
///
/// Dropped, it settles nothing: the broker delivers the message again when the lane is released or
/// its lock ended.
#[must_use = "a delivery whose receipt is dropped is delivered again"]
pub struct Receipt {
    settler: Box<dyn Settler>,
    tasks: SettlementTasks,
}

impl Receipt {
    /// Wraps a transport's settler.
    pub fn new(settler: impl Settler + 'static, tasks: &SettlementTasks) -> Self {
        Self {
            settler: Box::new(settler),
            tasks: tasks.clone(),
        }
    }

    /// Starts settling at once, in a task that nothing cancels (INB-14). The signal resolves with
    /// the outcome; dropping it does not stop the settlement.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn settle(self, settlement: Settlement) -> SettledSignal {
        let Self { settler, tasks } = self;
        SettledSignal(tasks.tracker.spawn(async move {
            tokio::time::timeout(tasks.bound, settler.settle(settlement))
                .await
                .unwrap_or_else(|_| {
                    Err(TransportError::transient(format!(
                        "the broker did not confirm a settlement within {:?}; unless it arrived, \
                         the message is delivered again",
                        tasks.bound
                    )))
                })
        }))
    }

    /// [`Settlement::Complete`].
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn complete(self) -> SettledSignal {
        self.settle(Settlement::Complete)
    }

    /// [`Settlement::Abandon`] after `delay`.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime.
    pub fn abandon(self, delay: Duration) -> SettledSignal {
        self.settle(Settlement::Abandon { delay })
    }
}

impl Debug for Receipt {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Receipt").finish_non_exhaustive()
    }
}

/// Resolves when a settlement ended.
#[derive(Debug)]
#[must_use = "a settlement can fail; its outcome is here"]
pub struct SettledSignal(JoinHandle<Result<(), TransportError>>);

impl Future for SettledSignal {
    type Output = Result<(), TransportError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context).map(|joined| {
            joined.unwrap_or_else(|error| {
                Err(
                    TransportError::transient("the settlement did not run to its end")
                        .with_source(error),
                )
            })
        })
    }
}
