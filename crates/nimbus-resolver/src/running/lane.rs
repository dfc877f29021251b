use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::Clock;
use nimbus_messaging::{Delivery, Lane, Settlement};
use tokio_util::sync::CancellationToken;

use super::renewal::keep_renewed;
use super::report::Tally;
use crate::{Applied, Report, ResolverErrorKind, ResolverStore};

/// After so many deliveries a busy lane is given back, so that none starves the others.
const DELIVERIES_PER_LANE: usize = 256;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long a lane is held after a failure that would repeat at once if it were given back.
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// What every lane of a resolver works with.
#[derive(Debug, Clone)]
pub(super) struct LaneWorker {
    pub(super) store: ResolverStore,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) stopping: CancellationToken,
    pub(super) tally: Tally,
}

/// What a lane does after a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Receive,
    Release,
}

impl LaneWorker {
    /// Keeps a lane's reports one after another until there is none, the lock is lost or the
    /// resolver stops, then gives it back.
    pub(super) async fn work(self, mut lane: Box<dyn Lane>) {
        let mut renewal = pin!(keep_renewed(lane.lock()));
        for _ in 0..DELIVERIES_PER_LANE {
            let received = tokio::select! {
                biased;
                () = self.stopping.cancelled() => break,
                () = &mut renewal => break,
                received = lane.receive(Duration::ZERO) => received,
            };
            let next = match received {
                Ok(Some(delivery)) => tokio::select! {
                    biased;
                    next = self.take(delivery) => next,
                    // Whoever has the lane now keeps the report as well, to the same effect.
                    () = &mut renewal => Next::Release,
                },
                Ok(None) => Next::Release,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn std::error::Error,
                        "receiving outcomes failed; trying again after a pause"
                    );
                    self.pause(PAUSE_AFTER_FAILURE).await;
                    Next::Release
                }
            };
            if next == Next::Release {
                break;
            }
        }
        if let Err(error) = lane.release().await {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "giving an event's outcomes back failed; they are free when their lock ends"
            );
        }
    }

    /// Keeps one report, on the disk, then completes its message: a crash between the two brings it
    /// again, which changes nothing.
    async fn take(&self, delivery: Delivery) -> Next {
        self.tally.add(|counts| &counts.received);
        let Delivery {
            envelope,
            enqueued_at,
            receipt,
            ..
        } = delivery;
        let read = Report::read(&envelope, enqueued_at, self.clock.now());
        let message_id = envelope.message_id.as_deref();
        let settlement = match read {
            Ok(Some(report)) => match self.keep(report).await {
                Kept::Done => Settlement::Complete,
                Kept::Refused(description) => {
                    dead_letter(message_id, "UnstorableReport", description)
                }
                // Dropping the receipt settles nothing: the message is delivered again.
                Kept::Stopped => {
                    self.tally.add(|counts| &counts.left);
                    return Next::Release;
                }
            },
            Ok(None) => {
                self.tally.add(|counts| &counts.ignored);
                Settlement::Complete
            }
            Err(unusable) => dead_letter(message_id, "UnusableReport", unusable.to_string()),
        };
        let dead = matches!(settlement, Settlement::DeadLetter { .. });
        match receipt.settle(settlement).await {
            Ok(()) => {
                if dead {
                    self.tally.add(|counts| &counts.dead_lettered);
                }
                Next::Receive
            }
            Err(error) => {
                tracing::warn!(
                    message_id,
                    error = &error as &dyn std::error::Error,
                    "the broker did not confirm that an outcome was taken; if it comes back, it \
                     changes nothing"
                );
                self.pause(PAUSE_AFTER_FAILURE).await;
                Next::Release
            }
        }
    }

    /// Keeps a report, waiting out an outage of the database. Giving the message back instead would
    /// burn its deliveries, and dead-letter it in the end for an outage that is not its fault.
    async fn keep(&self, report: Report) -> Kept {
        let mut pause = FIRST_PAUSE;
        loop {
            let applied = match self.store.apply(vec![report.clone()]).await {
                Ok(applied) => applied,
                Err(error) if error.kind() == ResolverErrorKind::Refused => {
                    return Kept::Refused(error.to_string());
                }
                Err(error) => {
                    tracing::error!(
                        error = &error as &dyn std::error::Error,
                        ?pause,
                        "an outcome can't be kept; its message is held and tried again after the \
                         pause. Nothing is lost meanwhile"
                    );
                    if !self.pause(pause).await {
                        return Kept::Stopped;
                    }
                    pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
                    continue;
                }
            };
            match applied.first() {
                Some(Applied::Repeated) => self.tally.add(|counts| &counts.repeated),
                Some(Applied::Kept(_)) => self.tally.add(|counts| &counts.kept),
                _ => self.tally.add(|counts| &counts.ignored),
            }
            return Kept::Done;
        }
    }

    /// `false` when the resolver stops meanwhile.
    async fn pause(&self, pause: Duration) -> bool {
        let slept = self
            .stopping
            .run_until_cancelled(tokio::time::sleep(pause))
            .await;
        slept.is_some()
    }
}

/// What became of a report.
enum Kept {
    Done,
    Refused(String),
    Stopped,
}

fn dead_letter(message_id: Option<&str>, reason: &str, description: String) -> Settlement {
    tracing::error!(
        message_id,
        reason,
        description,
        "dead-lettering a message at the resolver; what it tells of its event is not known here"
    );
    Settlement::DeadLetter {
        reason: reason.to_owned(),
        description,
    }
}
