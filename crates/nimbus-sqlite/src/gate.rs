//! Who of this handle may try for SQLite's write lock next.
//!
//! SQLite has one writer per file and lets waiting connections poll for the
//! lock, in no order. Inside one process a queue is fairer and wakes at once,
//! and it lets transactions wait without a thread each.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Instant;

use tokio::sync::{Mutex, OwnedMutexGuard};

#[derive(Clone, Default)]
pub(crate) struct WriteGate(Arc<Mutex<()>>);

/// The right to hold the write lock, until it is dropped.
pub(crate) struct Turn {
    _guard: OwnedMutexGuard<()>,
}

impl WriteGate {
    /// Waits in line without blocking. Dropping the future leaves the line.
    pub(crate) async fn turn(&self) -> Turn {
        Turn {
            _guard: Arc::clone(&self.0).lock_owned().await,
        }
    }

    /// Waits in the same line with the calling thread; none at `deadline`.
    pub(crate) fn turn_before(&self, deadline: Instant) -> Option<Turn> {
        block_until(self.turn(), deadline)
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// The runtime's own `blocking_lock` has no deadline.
fn block_until<F: Future>(future: F, deadline: Instant) -> Option<F::Output> {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Some(output);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return None;
        }
        thread::park_timeout(left);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(1)
    }

    fn late() -> Instant {
        Instant::now() + Duration::from_secs(60)
    }

    #[test]
    fn a_turn_is_exclusive_and_passes_on_when_dropped() {
        let gate = WriteGate::default();
        let turn = gate.turn_before(late()).expect("the gate is free");
        assert!(gate.turn_before(soon()).is_none(), "two turns at once");
        let next = thread::spawn({
            let gate = gate.clone();
            move || gate.turn_before(late()).is_some()
        });
        drop(turn);
        assert!(next.join().expect("no panic"));
    }
}
