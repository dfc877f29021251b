use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::Duration;

use nimbus_inbox_testing::{InMemoryTransport, ProcessId};
use tokio::runtime::{Builder, Runtime};

/// A simulated process: a runtime of its own whose clock moves only when it is told to.
#[derive(Debug)]
pub(crate) struct Process {
    pub(crate) transport: InMemoryTransport,
    runtime: Runtime,
    quiet: Arc<Quiet>,
}

/// Counts how often the runtime had nothing to do, and tells who waits for that.
///
/// Waking the waiting root also keeps the runtime from moving its paused clock by itself.
#[derive(Debug, Default)]
struct Quiet {
    parks: AtomicU64,
    root: Mutex<Option<Waker>>,
}

/// The first time the runtime parks it looks at its timers; what they wake runs before the second.
const PARKS: u64 = 2;

impl Quiet {
    fn parked(&self) {
        self.parks.fetch_add(1, Ordering::Relaxed);
        if let Some(root) = self.root().take() {
            root.wake();
        }
    }

    async fn reached(&self) {
        let enough = self.parks.load(Ordering::Relaxed) + PARKS;
        poll_fn(|context| {
            if self.parks.load(Ordering::Relaxed) >= enough {
                return Poll::Ready(());
            }
            *self.root() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    fn root(&self) -> std::sync::MutexGuard<'_, Option<Waker>> {
        self.root.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Process {
    /// Starts a process, whose program is spawned by `program`.
    pub(crate) fn start(transport: InMemoryTransport, program: impl FnOnce()) -> Self {
        let quiet = Arc::new(Quiet::default());
        let parked = Arc::clone(&quiet);
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .on_thread_park(move || parked.parked())
            .build()
            .expect("a runtime without I/O needs nothing of the system");
        {
            let _inside = runtime.enter();
            program();
        }
        Self {
            transport,
            runtime,
            quiet,
        }
    }

    pub(crate) fn id(&self) -> ProcessId {
        self.transport.process()
    }

    /// Runs until everything in it waits.
    pub(crate) fn settle(&self) {
        self.runtime.block_on(self.quiet.reached());
    }

    /// Moves its clock.
    pub(crate) fn advance(&self, by: Duration) {
        self.runtime.block_on(tokio::time::advance(by));
    }
}
