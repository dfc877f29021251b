//! Recording a success.

use super::Inbox;
use crate::{Error, InboxKey, InboxStore, Recorded};

/// The keys that a success completes: the source's first, then the delivery's own (INB-15).
///
/// In this order a crash between the two leaves the source recorded, so that a late delivery of
/// the original is skipped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionKeys {
    keys: Vec<InboxKey>,
    has_own: bool,
}

impl CompletionKeys {
    /// Orders the keys and drops a source that is the delivery itself. Either may be absent: a
    /// first delivery has no source, and an unusable id has no key (INB-20).
    #[must_use]
    pub fn new(source: Option<InboxKey>, own: Option<InboxKey>) -> Self {
        let has_own = own.is_some();
        let source = source.filter(|source| own.as_ref() != Some(source));
        Self {
            keys: source.into_iter().chain(own).collect(),
            has_own,
        }
    }

    /// The keys in the order they are recorded.
    #[must_use]
    pub fn as_slice(&self) -> &[InboxKey] {
        &self.keys
    }

    /// `true` when there is nothing to record.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// The delivery's own key, if its id is usable.
    #[must_use]
    pub fn own(&self) -> Option<&InboxKey> {
        self.keys.last().filter(|_| self.has_own)
    }
}

impl From<InboxKey> for CompletionKeys {
    /// A first delivery completes itself.
    fn from(own: InboxKey) -> Self {
        Self::new(None, Some(own))
    }
}

impl<S: InboxStore + ?Sized> Inbox<S> {
    /// Records a success, in one store call bounded by the
    /// [store timeout](crate::InboxOptions::store_timeout). Without keys no store is asked.
    ///
    /// Call it only after the handler succeeded and did not hand off (INB-12, INB-13). An outcome
    /// that the store doesn't know is tried once more (INB-26). It is logged when another
    /// delivery of the same message recorded it meanwhile: then both ran the handler.
    ///
    /// # Errors
    ///
    /// A transient error with a neutral text: leave the message for redelivery, don't settle it
    /// (INB-11).
    ///
    /// # Cancel safety
    ///
    /// Dropped, it leaves all, none, or where the store can't write at once the first of the
    /// records. It does not run on by itself: await it in a task that outlives the receiver.
    pub async fn record(&self, keys: &CompletionKeys) -> Result<Vec<Recorded>, Error> {
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let recorded = self.boundary().record(keys.as_slice()).await?;
        if let (Some(own), Some(Recorded::Already)) = (keys.own(), recorded.last()) {
            tracing::warn!(
                endpoint = %own.endpoint(),
                message_id = ?own.message_id(),
                "a message was already recorded when its handler returned: a concurrent delivery \
                 ran it as well, or an earlier attempt to record took effect unseen"
            );
        }
        Ok(recorded)
    }

    /// As [`record`](Self::record), in a tracked task that survives the future returned here.
    pub(super) async fn record_in_tail(
        &self,
        keys: CompletionKeys,
    ) -> Result<Vec<Recorded>, Error> {
        let inbox = self.clone();
        self.tails
            .run(async move { inbox.record(&keys).await })
            .await
    }
}
