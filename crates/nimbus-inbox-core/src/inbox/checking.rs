//! Looking for what was recorded before.

use super::{Inbox, Routing};
use crate::{Error, InboxKey, InboxStore, Timestamp};

impl<S: InboxStore + ?Sized> Inbox<S> {
    /// When the key was first recorded, or `None` if the message is new.
    ///
    /// # Errors
    ///
    /// A transient error with a neutral text when the store can't tell: leave the message for
    /// redelivery, and don't take it for a duplicate (INB-11).
    ///
    /// # Cancel safety
    ///
    /// Reads only; dropping it has no effect.
    pub async fn check(&self, key: &InboxKey) -> Result<Option<Timestamp>, Error> {
        let answers = self.boundary().check(std::slice::from_ref(key)).await?;
        Ok(answers.into_iter().next().flatten())
    }

    /// The first of the keys that was recorded, with the time it was, in one store call. Without
    /// keys no store is asked.
    ///
    /// A replayed parked copy is a duplicate by its own id or by its source's (INB-18).
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    ///
    /// # Cancel safety
    ///
    /// Reads only; dropping it has no effect.
    pub async fn check_any<'k>(
        &self,
        keys: &'k [InboxKey],
    ) -> Result<Option<(&'k InboxKey, Timestamp)>, Error> {
        if keys.is_empty() {
            return Ok(None);
        }
        let answers = self.boundary().check(keys).await?;
        let found = keys.iter().zip(answers);
        Ok(found
            .filter_map(|(key, recorded)| recorded.map(|at| (key, at)))
            .next())
    }

    /// Counts a duplicate and logs it with identity and routing, never with its payload (INB-09).
    /// [`process`](Self::process) does this itself. The time is not known where a claim found the
    /// record.
    pub fn duplicate_detected(
        &self,
        key: &InboxKey,
        recorded_at: Option<Timestamp>,
        routing: &Routing<'_>,
    ) {
        self.boundary().instruments().duplicate();
        // Identifiers come from publishers: shown with escapes, they can't forge a log line.
        tracing::info!(
            endpoint = %key.endpoint(),
            message_id = ?key.message_id(),
            recorded_at = recorded_at.map(tracing::field::display),
            message_type = routing.message_type,
            event_type = routing.event_type,
            event_id = routing.event_id,
            session_id = routing.session_id,
            correlation_id = routing.correlation_id,
            "duplicate delivery skipped: this message already succeeded on this endpoint"
        );
    }
}
