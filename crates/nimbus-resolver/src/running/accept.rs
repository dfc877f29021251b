use std::sync::Arc;
use std::time::Duration;

use nimbus_messaging::LaneSource;
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::lane::LaneWorker;

const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// Accepts lanes, at most `events` at a time, until the source is stopped.
///
/// It runs in a task of its own, since a pending accept must not be dropped.
pub(super) async fn accept_lanes(
    mut source: Box<dyn LaneSource>,
    events: usize,
    worker: LaneWorker,
    lanes: TaskTracker,
) {
    let permits = Arc::new(Semaphore::new(events));
    let mut pause = FIRST_PAUSE;
    loop {
        let permit = tokio::select! {
            biased;
            () = worker.stopping.cancelled() => return,
            permit = Arc::clone(&permits).acquire_owned() => permit,
        };
        // Nobody closes the semaphore.
        let Ok(permit) = permit else { return };
        match source.accept_next().await {
            Ok(Some(lane)) => {
                pause = FIRST_PAUSE;
                let worker = worker.clone();
                lanes.spawn(async move {
                    worker.work(lane).await;
                    drop(permit);
                });
            }
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    ?pause,
                    "waiting for outcomes failed; trying again after a pause"
                );
                tokio::select! {
                    biased;
                    () = worker.stopping.cancelled() => return,
                    () = tokio::time::sleep(pause) => {}
                }
                pause = pause.saturating_mul(2).min(LONGEST_PAUSE);
            }
        }
    }
}
