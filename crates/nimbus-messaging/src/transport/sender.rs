use std::fmt::Debug;

use async_trait::async_trait;
use nimbus_inbox_core::Timestamp;

use super::TransportError;
use crate::wire::Envelope;

/// Names a scheduled message, to cancel it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ScheduledId(pub String);

/// Sends to one address.
#[async_trait]
pub trait Sender: Debug + Send + Sync + 'static {
    /// Sends in order; resolves when the broker has confirmed all of them.
    ///
    /// # Errors
    ///
    /// [`TransportError`]; some or all of the messages may have been accepted all the same, so a
    /// message that may be sent twice carries an id of its own (SUB-34).
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have sent none, some or all.
    async fn send(&self, messages: Vec<Envelope>) -> Result<(), TransportError>;

    /// Accepts a message now and delivers it not before `due`.
    ///
    /// # Errors
    ///
    /// [`TransportError`]; the message may have been accepted all the same.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been accepted or not.
    async fn schedule(
        &self,
        message: Envelope,
        due: Timestamp,
    ) -> Result<ScheduledId, TransportError>;

    /// Withdraws a scheduled message; `false` when it was delivered or withdrawn before.
    ///
    /// # Errors
    ///
    /// [`TransportError`], [`Unsupported`](crate::TransportErrorKind::Unsupported) where the broker
    /// can't.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been withdrawn or not.
    async fn cancel_scheduled(&self, id: &ScheduledId) -> Result<bool, TransportError>;
}
