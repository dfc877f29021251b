//! The queue of one operation, and the task that empties it while it is not empty.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::item::Item;
use crate::Operation;

/// Checks and records each have a lane, in which one store call is in flight at most.
pub(super) struct Lane<A> {
    operation: Operation,
    state: Arc<Mutex<State<A>>>,
    max_keys: usize,
}

struct State<A> {
    waiting: VecDeque<Item<A>>,
    /// A worker exists and will look at `waiting` again.
    working: bool,
}

impl<A> Lane<A> {
    pub(super) fn new(operation: Operation, max_keys: usize) -> Self {
        Self {
            operation,
            state: Arc::new(Mutex::new(State {
                waiting: VecDeque::new(),
                working: false,
            })),
            max_keys,
        }
    }

    pub(super) fn operation(&self) -> Operation {
        self.operation
    }

    /// Queues the item. Returns the worker to run, if none is running.
    #[must_use]
    pub(super) fn enqueue(&self, item: Item<A>) -> Option<Worker<A>> {
        let mut state = lock(&self.state);
        state.waiting.push_back(item);
        if state.working {
            return None;
        }
        state.working = true;
        Some(Worker {
            state: Arc::clone(&self.state),
            max_keys: self.max_keys,
            done: false,
        })
    }
}

/// The right to empty a lane. Whatever ends it, also a panic or the end of its runtime, leaves a
/// lane that works and no caller that waits for ever.
pub(super) struct Worker<A> {
    state: Arc<Mutex<State<A>>>,
    max_keys: usize,
    done: bool,
}

impl<A> Worker<A> {
    /// The whole items that go out together: as many as fit, but one at least. `None` when
    /// nothing waits; the worker is then over.
    pub(super) fn next_batch(&mut self) -> Option<Vec<Item<A>>> {
        let mut state = lock(&self.state);
        state.waiting.retain(|item| !item.is_abandoned());
        let mut keys = 0;
        let fitting = state
            .waiting
            .iter()
            .take_while(|item| {
                keys += item.keys().len();
                keys <= self.max_keys
            })
            .count()
            .max(1);
        if state.waiting.is_empty() {
            // In the same critical section in which the lane was seen empty, so that no item can
            // come in between and find a worker that is gone.
            state.working = false;
            self.done = true;
            return None;
        }
        Some(state.waiting.drain(..fitting).collect())
    }
}

impl<A> Drop for Worker<A> {
    fn drop(&mut self) {
        // A worker that is done has a successor as soon as an item arrives, and leaves it alone.
        if !self.done {
            let mut state = lock(&self.state);
            state.working = false;
            // Dropping the items tells their callers.
            let cut_off = std::mem::take(&mut state.waiting);
            drop(state);
            drop(cut_off);
        }
    }
}

fn lock<A>(state: &Mutex<State<A>>) -> MutexGuard<'_, State<A>> {
    // No code that can panic runs under the lock.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}

impl<A> fmt::Debug for Lane<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = lock(&self.state).waiting.len();
        f.debug_struct("Lane")
            .field("operation", &self.operation)
            .field("waiting", &waiting)
            .field("max_keys", &self.max_keys)
            .finish()
    }
}
