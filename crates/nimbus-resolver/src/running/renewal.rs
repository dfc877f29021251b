use std::sync::Arc;

use nimbus_messaging::{LaneLock, TransportErrorKind};
use tokio::time::{Instant, sleep, timeout};

/// Renews a lane's lock for as long as it is polled; resolves when the lock is lost.
pub(super) async fn keep_renewed(lock: Arc<dyn LaneLock>) {
    let (lost, interval) = (lock.lost(), lock.duration() / 3);
    let renewing = async {
        let mut renewed = Instant::now();
        loop {
            sleep(interval).await;
            let began = Instant::now();
            match timeout(interval, lock.renew()).await {
                Ok(Ok(())) => renewed = began,
                Ok(Err(error)) if error.kind() == TransportErrorKind::LockLost => return,
                Ok(Err(_)) | Err(_) if renewed.elapsed() >= lock.duration() => return,
                // It holds yet; the next renewal may succeed.
                Ok(Err(_)) | Err(_) => {}
            }
        }
    };
    tokio::select! {
        biased;
        () = lost.cancelled() => {}
        () = renewing => {}
    }
}
