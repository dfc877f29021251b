use std::error::Error as StdError;

use async_trait::async_trait;

use super::{
    DuplicateDetected, MessageCompleted, MessageDeadLettered, MessageFailed, MessageReceived,
    SessionBlocked,
};

/// Why an observer could not take a signal; it is logged.
pub type ObserverError = Box<dyn StdError + Send + Sync>;

/// Hears of what happens to messages; implement what you want to hear.
///
/// The message waits while it is told, so be quick. An observer that fails, panics or takes longer
/// than five seconds is warned about and changes nothing (INB-10). One that took too long for a kind
/// of signal three times in a row is not told of that kind for a minute, then tried once more: one
/// that hangs for ever costs five seconds a minute.
///
/// Signals are best effort: a crash at the wrong moment loses one, and a redelivery after a crash
/// repeats what it repeats.
#[async_trait]
pub trait LifecycleObserver: Send + Sync + 'static {
    /// A delivery has come from the broker.
    ///
    /// # Errors
    ///
    /// Any; it is logged.
    async fn on_received(&self, _event: &MessageReceived<'_>) -> Result<(), ObserverError> {
        Ok(())
    }

    /// A handler has succeeded, and its success is on record.
    ///
    /// # Errors
    ///
    /// Any; it is logged.
    async fn on_completed(&self, _event: &MessageCompleted<'_>) -> Result<(), ObserverError> {
        Ok(())
    }

    /// An attempt at an event has failed.
    ///
    /// # Errors
    ///
    /// Any; it is logged.
    async fn on_failed(&self, _event: &MessageFailed<'_>) -> Result<(), ObserverError> {
        Ok(())
    }

    /// A message is set aside for an operator.
    ///
    /// # Errors
    ///
    /// Any; it is logged.
    async fn on_dead_lettered(
        &self,
        _event: &MessageDeadLettered<'_>,
    ) -> Result<(), ObserverError> {
        Ok(())
    }

    /// A session is blocked by one of its events.
    ///
    /// # Errors
    ///
    /// Any; it is logged.
    async fn on_session_blocked(&self, _event: &SessionBlocked<'_>) -> Result<(), ObserverError> {
        Ok(())
    }

    /// A duplicate was detected; its handler does not run (INB-09).
    ///
    /// # Errors
    ///
    /// Any; it is logged.
    async fn on_duplicate_detected(
        &self,
        _event: &DuplicateDetected<'_>,
    ) -> Result<(), ObserverError> {
        Ok(())
    }
}
