//! A queue between tasks that never block and threads that do.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// First in, first out; closed once. What was queued before is still handed
/// out after.
pub(crate) struct JobQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

struct State<T> {
    jobs: VecDeque<T>,
    closed: bool,
}

/// The queue was closed before the job came.
#[derive(Debug)]
pub(crate) struct QueueClosed;

impl<T> JobQueue<T> {
    pub(crate) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                jobs: VecDeque::new(),
                closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    pub(crate) fn push(&self, job: T) -> Result<(), QueueClosed> {
        let mut state = self.lock();
        if state.closed {
            return Err(QueueClosed);
        }
        state.jobs.push_back(job);
        drop(state);
        self.changed.notify_one();
        Ok(())
    }

    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.changed.notify_all();
    }

    /// Blocks until a job comes; none when the queue is closed and empty.
    pub(crate) fn pop(&self) -> Option<T> {
        let mut state = self
            .changed
            .wait_while(self.lock(), |state| state.jobs.is_empty() && !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        state.jobs.pop_front()
    }

    /// Moves what waits to the end of `jobs`, up to `limit` jobs in all.
    pub(crate) fn top_up(&self, jobs: &mut Vec<T>, limit: usize) {
        let mut state = self.lock();
        let room = limit.saturating_sub(jobs.len()).min(state.jobs.len());
        jobs.extend(state.jobs.drain(..room));
    }

    /// Every change of the state is a single step, so a panic elsewhere can't
    /// have left it half done.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_closed_queue_hands_out_what_it_holds_and_takes_no_more() {
        let queue = JobQueue::new();
        queue.push(1).expect("open");
        queue.push(2).expect("open");
        queue.close();
        assert!(queue.push(3).is_err());
        assert_eq!(
            [queue.pop(), queue.pop(), queue.pop()],
            [Some(1), Some(2), None]
        );
    }

    #[test]
    fn a_group_is_topped_up_to_its_limit_in_order() {
        let queue = JobQueue::new();
        for job in 1..=4 {
            queue.push(job).expect("open");
        }
        let mut group = vec![0];
        queue.top_up(&mut group, 3);
        assert_eq!(group, [0, 1, 2]);
        assert_eq!(queue.pop(), Some(3));
    }
}
