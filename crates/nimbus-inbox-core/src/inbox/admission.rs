//! Which deliveries can be deduplicated (INB-03).

use super::Inbox;
use crate::{EndpointId, InboxKey, InboxStore, MessageId, UnusableId};

/// What an id allows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Admission {
    /// The delivery has a key.
    Usable(InboxKey),
    /// The delivery can't be deduplicated: run the handler and touch no store.
    Bypassed(UnusableId),
}

impl Admission {
    /// The key, unless the delivery bypasses the inbox.
    #[must_use]
    pub fn key(&self) -> Option<&InboxKey> {
        match self {
            Self::Usable(key) => Some(key),
            Self::Bypassed(_) => None,
        }
    }
}

impl<S: InboxStore + ?Sized> Inbox<S> {
    /// Decides whether a delivery with this message id can be deduplicated. A bypass is warned of
    /// and counted, so ask once per delivery.
    pub fn admit(&self, id: Option<&str>) -> Admission {
        match self.key(id) {
            Ok(key) => Admission::Usable(key),
            Err(reason) => {
                self.boundary().instruments().bypass(reason);
                tracing::warn!(
                    endpoint = %self.endpoint(),
                    message_id_limit = MessageId::MAX_UTF16_UNITS,
                    "a message can't be deduplicated because its message id is {reason}: it is \
                     handled without the inbox; correct the publisher"
                );
                Admission::Bypassed(reason)
            }
        }
    }

    /// The key of a message id that belongs to another delivery, such as the source of a
    /// stand-in. Nothing is warned of or counted.
    ///
    /// # Errors
    ///
    /// Why the id can't be deduplicated; it is then neither checked nor recorded.
    pub fn key(&self, id: Option<&str>) -> Result<InboxKey, UnusableId> {
        let id = MessageId::new(id.unwrap_or_default())?;
        Ok(InboxKey::new(self.endpoint().clone(), id))
    }
}

/// Warns of a message whose address can't be an endpoint.
pub(super) fn warn_of_address(reason: UnusableId) {
    tracing::warn!(
        endpoint_limit = EndpointId::MAX_UTF16_UNITS,
        "a message can't be deduplicated because no endpoint is configured and its address is \
         {reason}: it is handled without the inbox; configure the endpoint"
    );
}
