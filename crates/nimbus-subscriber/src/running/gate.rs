use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use nimbus_inbox_core::Inbox;
use tokio_util::sync::CancellationToken;

use super::health::{Health, Phase};

/// Holds intake back while the inbox store does not answer (SUB-30).
///
/// Receiving meanwhile would only burn the messages' delivery counts, and dead-letter them in the
/// end for an outage that is not theirs.
#[derive(Debug, Clone)]
pub(super) struct IntakeGate {
    inbox: Option<Inbox>,
    health: Health,
    closed: Arc<AtomicBool>,
}

impl IntakeGate {
    pub(super) fn new(inbox: Option<Inbox>, health: Health) -> Self {
        Self {
            inbox,
            health,
            closed: Arc::default(),
        }
    }

    /// Stops intake until the store answers.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::SeqCst);
        self.health.enter(Phase::Waiting(
            "the inbox store does not answer; receiving is paused",
        ));
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed.load(Ordering::SeqCst)
    }

    /// Resolves at once while intake is open; else asks the store, ever more rarely, until it
    /// answers or the subscriber stops.
    pub(super) async fn passed(&self, stopping: &CancellationToken) {
        let mut pause = Duration::from_millis(100);
        while self.is_closed() && !stopping.is_cancelled() {
            let answers = tokio::select! {
                biased;
                () = stopping.cancelled() => return,
                answers = self.answers_after(pause) => answers,
            };
            pause = pause.saturating_mul(2).min(Duration::from_secs(30));
            if answers {
                self.closed.store(false, Ordering::SeqCst);
                self.health.enter(Phase::Receiving);
            }
        }
    }

    async fn answers_after(&self, pause: Duration) -> bool {
        tokio::time::sleep(pause).await;
        match &self.inbox {
            Some(inbox) => inbox.verify().await.is_ok(),
            None => true,
        }
    }
}
