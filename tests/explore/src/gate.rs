use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use nimbus_inbox_testing::ProcessId;
use tokio::task::Id as TaskId;

use crate::effect::Effect;
use crate::outcome::Outcome;

/// Where every effect waits until the explorer lets it happen.
#[derive(Debug, Clone, Default)]
pub(crate) struct Gate(Arc<Mutex<Calls>>);

#[derive(Debug, Default)]
struct Calls {
    next: u64,
    waiting: Vec<Waiting>,
}

/// An effect that waits.
#[derive(Debug)]
pub(crate) struct Waiting {
    /// Numbers the effects in the order in which they came.
    pub(crate) number: u64,
    pub(crate) process: ProcessId,
    pub(crate) task: Option<TaskId>,
    pub(crate) effect: Effect,
    granted: Option<Outcome>,
    waker: Option<Waker>,
}

impl Gate {
    /// Waits until the effect may happen; a handler is told how it ends.
    pub(crate) fn pass(&self, process: ProcessId, effect: Effect) -> impl Future<Output = Outcome> {
        let number = {
            let mut calls = self.calls();
            calls.next += 1;
            let number = calls.next;
            calls.waiting.push(Waiting {
                number,
                process,
                task: tokio::task::try_id(),
                effect,
                granted: None,
                waker: None,
            });
            number
        };
        Permit {
            gate: self.clone(),
            number,
        }
    }

    /// Lets an effect happen.
    pub(crate) fn grant(&self, number: u64, outcome: Outcome) {
        let mut calls = self.calls();
        let call = calls.waiting.iter_mut().find(|call| call.number == number);
        let waker = call.and_then(|call| {
            call.granted = Some(outcome);
            call.waker.take()
        });
        drop(calls);
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// Looks at the effects that wait, oldest first.
    pub(crate) fn look<T>(&self, look: impl FnOnce(&[Waiting]) -> T) -> T {
        look(&self.calls().waiting)
    }

    /// The number of the effect that came last.
    pub(crate) fn last_number(&self) -> u64 {
        self.calls().next
    }

    pub(crate) fn task_of(&self, number: u64) -> Option<TaskId> {
        let calls = self.calls();
        let call = calls.waiting.iter().find(|call| call.number == number)?;
        call.task
    }

    fn calls(&self) -> MutexGuard<'_, Calls> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// An effect's place at the gate; dropped, the effect does not happen.
struct Permit {
    gate: Gate,
    number: u64,
}

impl Future for Permit {
    type Output = Outcome;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome> {
        let mut calls = self.gate.calls();
        let call = calls
            .waiting
            .iter_mut()
            .find(|call| call.number == self.number);
        // It is there until this permit is dropped.
        let Some(call) = call else {
            return Poll::Pending;
        };
        if let Some(outcome) = call.granted {
            return Poll::Ready(outcome);
        }
        call.waker = Some(context.waker().clone());
        Poll::Pending
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.gate
            .calls()
            .waiting
            .retain(|call| call.number != self.number);
    }
}
