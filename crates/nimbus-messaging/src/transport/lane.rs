use std::fmt::Debug;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use tokio_util::sync::CancellationToken;

use super::{Delivery, TransportError};
use crate::session::{SessionId, SessionStore};

/// Hands out the lanes of one endpoint to one receiver.
#[async_trait]
pub trait LaneSource: Debug + Send {
    /// Waits for a lane with work and locks it; `None` once stopped.
    ///
    /// # Errors
    ///
    /// [`TransportError`]; the caller may call again after a pause.
    ///
    /// # Cancel safety
    ///
    /// Never drop it while it is pending: on some brokers that breaks the connection. Use the
    /// [stopper](Self::stopper).
    async fn accept_next(&mut self) -> Result<Option<Box<dyn Lane>>, TransportError>;

    /// Ends a pending [`accept_next`](Self::accept_next) and all later ones.
    fn stopper(&self) -> Arc<dyn Stopper>;
}

/// Ends the waiting for lanes.
pub trait Stopper: Debug + Send + Sync {
    /// Asks it to end; returns at once. Asking again has no effect.
    fn stop(&self);
}

/// An ordered stream of deliveries that this receiver holds locked: one session, or one partition
/// that carries several. At most one delivery of a session is unsettled at a time.
#[async_trait]
pub trait Lane: Debug + Send {
    /// The next delivery in order; `None` when none came within `wait`.
    ///
    /// # Errors
    ///
    /// [`TransportError`]; after [`LockLost`](crate::TransportErrorKind::LockLost) the lane is of
    /// no more use but to be released.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it loses nothing: a delivery it had already taken is delivered again after the
    /// lane is released or its lock ended.
    async fn receive(&mut self, wait: Duration) -> Result<Option<Delivery>, TransportError>;

    /// The deferred message with that sequence number; `None` when there is none.
    ///
    /// # Errors
    ///
    /// [`TransportError`], [`Unsupported`](crate::TransportErrorKind::Unsupported) where the broker
    /// has no deferral.
    ///
    /// # Cancel safety
    ///
    /// As [`receive`](Self::receive).
    async fn receive_deferred(
        &mut self,
        session: &SessionId,
        sequence_number: i64,
    ) -> Result<Option<Delivery>, TransportError>;

    /// The lane's lock, to renew it while a handler runs.
    fn lock(&self) -> Arc<dyn LaneLock>;

    /// The store of its sessions' state, where the broker has one.
    fn sessions(&self) -> Option<Arc<dyn SessionStore>>;

    /// Gives the lane back; what is not settled is delivered again, in order.
    ///
    /// # Errors
    ///
    /// [`TransportError`]; the lock then ends by itself.
    async fn release(self: Box<Self>) -> Result<(), TransportError>;
}

/// The lock of a lane.
#[async_trait]
pub trait LaneLock: Debug + Send + Sync {
    /// How long the lock holds from a renewal.
    fn duration(&self) -> Duration;

    /// Extends the lock to its full duration from now.
    ///
    /// # Errors
    ///
    /// [`LockLost`](crate::TransportErrorKind::LockLost) when it is gone, else a transient error.
    async fn renew(&self) -> Result<(), TransportError>;

    /// Cancelled when the lock is known to be lost.
    fn lost(&self) -> CancellationToken;
}
