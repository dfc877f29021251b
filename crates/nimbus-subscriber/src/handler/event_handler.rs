use async_trait::async_trait;
use serde::de::DeserializeOwned;

use super::{HandlerContext, HandlerError};

/// Handles one type of event; the trait form of a plain async function.
#[async_trait]
pub trait EventHandler: Send + Sync + 'static {
    /// The event, read from JSON.
    type Event: DeserializeOwned + Send + 'static;

    /// Does the work of one event.
    ///
    /// # Errors
    ///
    /// [`HandlerError`], which the subscriber classifies (SUB-21). A panic is a failure of this
    /// message (INB-12).
    ///
    /// # Cancel safety
    ///
    /// The future is dropped when the drain deadline passes or the session's lock is lost; the
    /// message is then delivered again, so each await must be a place where starting over is right.
    async fn handle(&self, event: Self::Event, context: HandlerContext)
    -> Result<(), HandlerError>;
}
