use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Weak};
use std::time::Duration;

use async_trait::async_trait;
use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{LaneLock, TransportError};
use tokio_util::sync::CancellationToken;

use super::name::LaneName;
use crate::error::{self, Doing};
use crate::line::{self, Held};
use crate::shared::Shared;

/// The lock of one lane, as far as its holder knows.
#[derive(Debug)]
pub(super) struct EmbeddedLock {
    shared: Arc<Shared>,
    held: Held,
    name: LaneName,
    /// Ticks; what the last renewal that was confirmed said.
    until: AtomicI64,
    lost: CancellationToken,
    released: CancellationToken,
}

impl EmbeddedLock {
    /// Watches the lock of a lane that was just accepted.
    pub(super) fn start(shared: Arc<Shared>, held: Held, name: LaneName, until: i64) -> Arc<Self> {
        let lock = Arc::new(Self {
            shared,
            held,
            name,
            until: AtomicI64::new(until),
            lost: CancellationToken::new(),
            released: CancellationToken::new(),
        });
        tokio::spawn(watch(
            Arc::downgrade(&lock),
            lock.released.clone(),
            lock.shared.options.poll_interval,
        ));
        lock
    }

    pub(super) fn held(&self) -> Held {
        self.held
    }

    pub(super) fn name(&self) -> &LaneName {
        &self.name
    }

    /// The file said that the lock is gone.
    pub(super) fn is_lost(&self, before: &str) -> TransportError {
        self.lost.cancel();
        error::lock_lost(&self.name, before)
    }

    /// Nobody needs to be told any more when the lock ends.
    pub(super) fn released(&self) {
        self.released.cancel();
    }

    /// How long it holds from now.
    fn left(&self) -> Duration {
        Timestamp::from_unix_ticks(self.until.load(Ordering::Acquire))
            .saturating_duration_since(self.shared.now())
    }

    async fn extend(&self) -> Result<(), TransportError> {
        let (held, duration) = (self.held, self.duration());
        let renewed = self
            .shared
            .write(Doing("renewing the lock of", &self.name), move |tx, now| {
                let until = now.saturating_add(duration).unix_ticks();
                line::renew(tx, held, now.unix_ticks(), until)
                    .map(|renewed| renewed.then_some(until))
            })
            .await?;
        match renewed {
            Some(until) => {
                self.until.fetch_max(until, Ordering::AcqRel);
                Ok(())
            }
            None => Err(self.is_lost("it was renewed")),
        }
    }
}

/// Cancels `lost` when the lock's time is over.
async fn watch(lock: Weak<EmbeddedLock>, released: CancellationToken, longest: Duration) {
    loop {
        let left = match lock.upgrade() {
            Some(lock) => {
                let left = lock.left();
                if left.is_zero() {
                    lock.lost.cancel();
                    return;
                }
                left
            }
            None => return,
        };
        tokio::select! {
            () = released.cancelled() => return,
            () = tokio::time::sleep(left.min(longest)) => {}
        }
    }
}

/// Renews through a handle that is shared, so that a renewal outlives a dropped call.
#[derive(Debug)]
pub(super) struct SharedLock(pub(super) Arc<EmbeddedLock>);

#[async_trait]
impl LaneLock for SharedLock {
    fn duration(&self) -> Duration {
        self.0.duration()
    }

    async fn renew(&self) -> Result<(), TransportError> {
        // In a task of its own: the answer of a renewal that was committed must arrive here even
        // if the caller is gone, or the lock would be given up too early.
        let lock = Arc::clone(&self.0);
        tokio::spawn(async move { lock.extend().await })
            .await
            .unwrap_or_else(|error| {
                Err(
                    TransportError::transient("the renewal of a lane's lock did not end")
                        .with_source(error),
                )
            })
    }

    fn lost(&self) -> CancellationToken {
        self.0.lost.clone()
    }
}

impl EmbeddedLock {
    fn duration(&self) -> Duration {
        self.shared.options.lock_duration
    }
}
