use std::time::Duration;

use nimbus_inbox_core::Inbox;
use tokio::sync::watch;
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
    closed: watch::Sender<bool>,
}

impl IntakeGate {
    pub(super) fn new(inbox: Option<Inbox>, health: Health) -> Self {
        Self {
            inbox,
            health,
            closed: watch::Sender::new(false),
        }
    }

    /// Stops intake until the store answers.
    pub(super) fn close(&self) {
        self.closed.send_replace(true);
    }

    /// Resolves at once while intake is open; else asks the store, ever more rarely, until it
    /// answers or the subscriber stops.
    pub(super) async fn passed(&self, stopping: &CancellationToken) {
        let mut pause = Duration::from_millis(100);
        while *self.closed.borrow() && !stopping.is_cancelled() {
            self.health.enter(Phase::Waiting(
                "the inbox store does not answer; receiving is paused",
            ));
            let answers = tokio::select! {
                biased;
                () = stopping.cancelled() => return,
                answers = self.answers_after(pause) => answers,
            };
            pause = pause.saturating_mul(2).min(Duration::from_secs(30));
            if answers {
                self.closed.send_replace(false);
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
