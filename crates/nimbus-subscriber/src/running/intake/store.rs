use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use nimbus_inbox_core::{CompletionKeys, Inbox};
use nimbus_messaging::random_message_id;
use tokio_util::sync::CancellationToken;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Whether the inbox store serves.
#[derive(Debug)]
pub(super) struct Store {
    inbox: Option<Inbox>,
    closed: AtomicBool,
    /// How often intake was closed since a message was last recorded.
    closings: AtomicU32,
}

impl Store {
    pub(super) fn new(inbox: Option<Inbox>) -> Self {
        Self {
            inbox,
            closed: AtomicBool::new(false),
            closings: AtomicU32::new(0),
        }
    }

    pub(super) fn close(&self) {
        if !self.closed.swap(true, Ordering::SeqCst) {
            self.closings.fetch_add(1, Ordering::SeqCst);
        }
    }

    pub(super) fn recorded(&self) {
        self.closings.store(0, Ordering::Relaxed);
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Tries the store, ever more rarely, until it serves or the subscriber stops.
    ///
    /// The pauses go on growing from closing to closing until a message is recorded: a store may
    /// serve the trial and still fail the messages.
    pub(super) async fn serves(&self, stopping: &CancellationToken) {
        let mut doublings = self.closings.load(Ordering::SeqCst).saturating_sub(1);
        while self.is_closed() && !stopping.is_cancelled() {
            let serves = tokio::select! {
                biased;
                () = stopping.cancelled() => return,
                serves = self.serves_after(pause(doublings)) => serves,
            };
            doublings = doublings.saturating_add(1);
            if serves {
                self.closed.store(false, Ordering::SeqCst);
            }
        }
    }

    /// Records an id that no message has. Only a write shows that the store can be written: one
    /// whose disk is full still answers checks. The record expires like any other.
    async fn serves_after(&self, pause: Duration) -> bool {
        tokio::time::sleep(pause).await;
        let Some(inbox) = &self.inbox else {
            return true;
        };
        let trial = inbox.key(Some(&format!("nimbus:trial:{}", random_message_id())));
        match trial {
            Ok(key) => {
                inbox.check(&key).await.is_ok()
                    && inbox.record(&CompletionKeys::from(key)).await.is_ok()
            }
            Err(_) => true,
        }
    }
}

fn pause(doublings: u32) -> Duration {
    FIRST_PAUSE
        .saturating_mul(1_u32.checked_shl(doublings).unwrap_or(u32::MAX))
        .min(LONGEST_PAUSE)
}
