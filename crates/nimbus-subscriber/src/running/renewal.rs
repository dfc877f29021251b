use std::sync::Arc;
use std::time::Duration;

use nimbus_messaging::{LaneLock, TransportError, TransportErrorKind};
use tokio::time::{Instant, sleep, timeout};

/// Renews a lane's lock for as long as it is polled; resolves when the lock is lost (SUB-29).
///
/// A renewal that fails is tried again after a tenth of the lock's duration, until the lock has
/// run out.
pub(super) async fn keep_renewed(lock: Arc<dyn LaneLock>) {
    let lost = lock.lost();
    tokio::select! {
        biased;
        () = lost.cancelled() => {}
        () = renew_until_lost(&*lock) => {}
    }
}

async fn renew_until_lost(lock: &dyn LaneLock) {
    let interval = lock.duration() / 3;
    let mut pause = interval;
    let mut holds_until = end_of(lock, Instant::now());
    loop {
        sleep(pause).await;
        let began = Instant::now();
        let renewed = timeout(interval, lock.renew()).await.unwrap_or_else(|_| {
            Err(TransportError::transient(format!(
                "no answer within {interval:?}"
            )))
        });
        match renewed {
            Ok(()) => {
                holds_until = end_of(lock, began);
                pause = interval;
            }
            Err(error) if error.kind() == TransportErrorKind::LockLost => return,
            Err(_) if holds_until.is_some_and(|end| Instant::now() >= end) => return,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "renewing a session's lock failed; trying again"
                );
                pause = (lock.duration() / 10).max(Duration::from_millis(10));
            }
        }
    }
}

/// When a lock renewed at that instant runs out; one that lasts longer than clocks count does not.
fn end_of(lock: &dyn LaneLock, renewed: Instant) -> Option<Instant> {
    renewed.checked_add(lock.duration())
}
