//! The inbox around a handler (INB-06, INB-39).

use super::{Admission, CompletionKeys, Inbox, Routing};
use crate::{Error, InboxStore, Recorded};

/// What became of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Processed<T> {
    /// The handler ran and succeeded.
    Handled(Handled<T>),
    /// The message had succeeded before: nothing ran. Complete it.
    Duplicate,
}

impl<T> Processed<T> {
    /// `true` when nothing ran.
    #[must_use]
    pub fn is_duplicate(&self) -> bool {
        matches!(self, Self::Duplicate)
    }

    /// What the handler returned, if it ran.
    #[must_use]
    pub fn into_value(self) -> Option<T> {
        match self {
            Self::Handled(handled) => Some(handled.value),
            Self::Duplicate => None,
        }
    }
}

/// A handler's success.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Handled<T> {
    /// What the handler returned.
    pub value: T,
    /// What recording the message found; `None` when nothing was recorded, because the id is
    /// unusable (INB-03) or the claim was [released](super::Claim::Release).
    pub recorded: Option<Recorded>,
}

impl<S: InboxStore + ?Sized> Inbox<S> {
    /// Runs `handler` unless the message with this id already succeeded on this endpoint, and
    /// records it after the handler returned `Ok`: one check, and one record (INB-07).
    ///
    /// A crash between the two, a concurrent delivery and an expired record can still run it twice
    /// (INB-40); a handler that needs more uses [`process_in`](Self::process_in).
    ///
    /// An absent id is the empty text. A missing, blank or too long id runs the handler without
    /// the inbox; that is warned of, counted, and shown in [`Handled::recorded`] (INB-03).
    ///
    /// A handler that only hands its work off must not return `Ok`, since that is recorded
    /// (INB-13); [`process_claims`](Self::process_claims) has a way to hand off.
    ///
    /// # Errors
    ///
    /// The handler's error as it was; nothing is recorded then (INB-12). A transient [`Error`]
    /// when the store can't tell or can't record: abandon the message for redelivery. After a
    /// failed record the handler has run, and its value is lost.
    ///
    /// # Panics
    ///
    /// A panic of the handler goes on to the caller; nothing is recorded. Also outside a tokio
    /// runtime.
    ///
    /// # Cancel safety
    ///
    /// Dropped before the handler returned, the handler is dropped and nothing is recorded.
    /// Dropped after it returned `Ok`, the record goes on to its end in a task of its own
    /// (INB-14); [`drained`](Self::drained) waits for it.
    pub async fn process<T, E, F>(&self, id: &str, handler: F) -> Result<Processed<T>, E>
    where
        F: AsyncFnOnce() -> Result<T, E>,
        E: From<Error>,
    {
        let key = match self.admit(Some(id)) {
            Admission::Usable(key) => key,
            Admission::Bypassed(_) => {
                let value = handler().await?;
                return Ok(handled(value, None));
            }
        };
        if let Some(recorded_at) = self.check(&key).await? {
            self.duplicate_detected(&key, Some(recorded_at), &Routing::default());
            return Ok(Processed::Duplicate);
        }
        let value = handler().await?;
        // Begun in the same poll in which the handler returned.
        let recorded = self.record_in_tail(CompletionKeys::from(key)).await?;
        Ok(handled(value, recorded.last().copied()))
    }
}

pub(super) fn handled<T>(value: T, recorded: Option<Recorded>) -> Processed<T> {
    Processed::Handled(Handled { value, recorded })
}
