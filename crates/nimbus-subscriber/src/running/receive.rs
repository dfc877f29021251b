use std::sync::Arc;
use std::time::Duration;

use nimbus_messaging::{Lane, LaneSource, TransportError};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::health::{Health, Phase};
use super::lane::LaneWorker;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// A broker that has let us wait so long without failing has no work for us.
const QUIET: Duration = Duration::from_secs(30);

/// Accepts lanes, at most `sessions` at a time, until the source is stopped (SUB-29).
///
/// It runs in a task of its own, since a pending accept must not be dropped.
pub(super) async fn accept_lanes(
    mut source: Box<dyn LaneSource>,
    sessions: usize,
    worker: LaneWorker,
    lanes: TaskTracker,
    health: Health,
) {
    let permits = Arc::new(Semaphore::new(sessions));
    let stopping = worker.stop.stopping.clone();
    let mut pause = FIRST_PAUSE;
    loop {
        let permit = tokio::select! {
            biased;
            () = stopping.cancelled() => return,
            permit = Arc::clone(&permits).acquire_owned() => permit,
        };
        // Nobody closes the semaphore.
        let Ok(permit) = permit else { return };
        worker.services.intake.passed(&stopping).await;
        if stopping.is_cancelled() {
            return;
        }
        match accept(&mut *source, &worker, &health).await {
            Ok(Some(lane)) => {
                pause = FIRST_PAUSE;
                let pass = worker.services.intake.pass();
                worker.services.intake.show();
                let (worker, permits) = (worker.clone(), Arc::clone(&permits));
                lanes.spawn(async move {
                    worker.work(lane, pass, &permits).await;
                    drop(permit);
                });
            }
            Ok(None) => return,
            Err(error) => {
                // The transport reconnects; never ask it in a busy loop (SUB-30).
                tracing::warn!(
                    endpoint = %worker.services.endpoint,
                    error = &error as &dyn std::error::Error,
                    ?pause,
                    "waiting for a session with work failed; trying again after a pause"
                );
                health.enter(Phase::Waiting("the broker does not answer; trying again"));
                tokio::select! {
                    biased;
                    () = stopping.cancelled() => return,
                    () = tokio::time::sleep(pause) => {}
                }
                pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
            }
        }
    }
}

/// Waits for a lane. Where none comes, health must not stay at what the last message met: the
/// broker answers, and the store is asked.
async fn accept(
    source: &mut dyn LaneSource,
    worker: &LaneWorker,
    health: &Health,
) -> Result<Option<Box<dyn Lane>>, TransportError> {
    let mut accepting = source.accept_next();
    loop {
        if let Ok(accepted) = tokio::time::timeout(QUIET, &mut accepting).await {
            return accepted;
        }
        worker.services.intake.passed(&worker.stop.stopping).await;
        health.enter(Phase::Receiving);
    }
}
