//! Dropping and aborting at every suspension.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

#[path = "support/yielding.rs"]
mod yielding;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::poll_immediate;
use nimbus_inbox_core::{Error, Inbox, Processed};
use nimbus_inbox_testing::{GateStore, InMemoryInbox, Point, When};
use tokio::task::yield_now;
use yielding::YieldingStore;

/// Where a run was when it was interrupted.
#[derive(Debug, Default)]
struct Seen {
    before_the_handler: u32,
    in_the_handler: u32,
    while_recording: u32,
}

/// One delivery, watched from outside.
struct Delivery {
    memory: InMemoryInbox,
    inbox: Inbox<YieldingStore>,
    began: Arc<AtomicBool>,
    succeeded: Arc<AtomicBool>,
}

impl Delivery {
    fn new() -> Self {
        let memory = InMemoryInbox::new();
        Self {
            inbox: Inbox::new("Billing", YieldingStore(memory.clone())).unwrap(),
            memory,
            began: Arc::default(),
            succeeded: Arc::default(),
        }
    }

    fn process(&self) -> impl Future<Output = Result<Processed<()>, Error>> + Send + 'static {
        let inbox = self.inbox.clone();
        let (began, succeeded) = (Arc::clone(&self.began), Arc::clone(&self.succeeded));
        async move {
            let handler = async move || {
                began.store(true, Ordering::SeqCst);
                yield_now().await;
                yield_now().await;
                succeeded.store(true, Ordering::SeqCst);
                Ok(())
            };
            inbox.process("m-1", handler).await
        }
    }

    /// After an interruption: a success is recorded, and nothing else is.
    async fn judge(&self, seen: &mut Seen) {
        let recorded_at_once = !self.memory.is_empty();
        self.inbox.drained().await;
        let succeeded = self.succeeded.load(Ordering::SeqCst);
        assert_eq!(!self.memory.is_empty(), succeeded);
        if succeeded && !recorded_at_once {
            seen.while_recording += 1;
        } else if self.began.load(Ordering::SeqCst) {
            seen.in_the_handler += 1;
        } else {
            seen.before_the_handler += 1;
        }
    }
}

impl Seen {
    fn assert_everywhere(&self) {
        assert!(self.before_the_handler >= 4, "{self:?}");
        assert!(self.in_the_handler >= 2, "{self:?}");
        assert!(self.while_recording >= 2, "{self:?}");
    }
}

/// INB-14: dropped at its k-th suspension, for every k, a delivery whose handler returned `Ok` is
/// recorded once drained, and any other is not.
#[tokio::test]
async fn a_drop_at_any_suspension_interrupts_no_record() {
    let mut seen = Seen::default();
    for k in 1_u32.. {
        let delivery = Delivery::new();
        let mut finished = false;
        {
            let mut process = pin!(delivery.process());
            for _ in 0..k {
                finished = poll_immediate(process.as_mut()).await.is_some();
                if finished {
                    break;
                }
                // Lets the tail move on between two polls.
                yield_now().await;
            }
        }
        if finished {
            break;
        }
        delivery.judge(&mut seen).await;
    }
    seen.assert_everywhere();
}

/// INB-14: the same for a task that is aborted, with the runtime's other threads running on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_abort_at_any_time_interrupts_no_record() {
    for round in 0_u32..500 {
        let delivery = Delivery::new();
        let task = tokio::spawn(delivery.process());
        for _ in 0..round % 50 {
            yield_now().await;
        }
        task.abort();
        let _ = task.await;
        delivery.judge(&mut Seen::default()).await;
    }
}

/// INB-14: `drained` waits for a record that nobody else waits for any more.
#[tokio::test]
async fn drained_waits_for_the_tail_of_a_dropped_delivery() {
    let memory = InMemoryInbox::new();
    let store = GateStore::new(memory.clone());
    let inbox = Inbox::new("Billing", store.clone()).unwrap();
    let mut records = store.hold(When::record(), Point::BeforeEffect);
    let task = {
        let inbox = inbox.clone();
        tokio::spawn(async move { inbox.process("m-1", async || Ok::<_, Error>(())).await })
    };
    let held = records.reached().await;
    task.abort();
    assert!(task.await.unwrap_err().is_cancelled());
    assert!(
        !held.is_dropped(),
        "the record was cut off with its delivery"
    );

    let mut drained = pin!(inbox.drained());
    assert!(poll_immediate(drained.as_mut()).await.is_none());
    held.release();
    drained.await;
    assert_eq!(memory.len(), 1);
    // Drained is a state and not an end.
    drop(records);
    let later = inbox.process("m-2", async || Ok::<_, Error>(())).await;
    assert!(!later.unwrap().is_duplicate());
}

/// INB-14: shutdown before or during the handler is cancellation: nothing is recorded, and the
/// redelivery runs.
#[tokio::test]
async fn a_delivery_that_is_dropped_in_its_handler_runs_again() {
    let inbox = Inbox::new("Billing", InMemoryInbox::new()).unwrap();
    let hanging = inbox.process("m-1", async || -> Result<(), Error> {
        std::future::pending().await
    });
    assert!(poll_immediate(hanging).await.is_none());
    inbox.drained().await;
    let again = inbox.process("m-1", async || Ok::<_, Error>(())).await;
    assert!(!again.unwrap().is_duplicate());
}
