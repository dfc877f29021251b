use std::sync::Arc;
use std::time::Duration;

use nimbus_messaging::{LaneLock, TransportErrorKind};

/// Renews a lane's lock for as long as it is polled; resolves when the lock is lost (SUB-29).
///
/// A renewal that fails is tried again after a tenth of the lock's duration, until the lock ends.
pub(super) async fn keep_renewed(lock: Arc<dyn LaneLock>) {
    let lost = lock.lost();
    let interval = lock.duration() / 3;
    let mut pause = interval;
    loop {
        tokio::select! {
            biased;
            () = lost.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
        pause = match lock.renew().await {
            Ok(()) => interval,
            Err(error) if error.kind() == TransportErrorKind::LockLost => return,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "renewing a session's lock failed; trying again"
                );
                (lock.duration() / 10).max(Duration::from_millis(10))
            }
        };
    }
}
