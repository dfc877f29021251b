//! The deduplication key.

use std::hash::{Hash, Hasher};

use super::{EndpointId, IdentityHash, MessageId};

/// The pair (endpoint, message id) that a record stands for (INB-01).
///
/// It can't be built from unusable parts, so no store can be handed one by mistake (INB-05). Two
/// keys are equal exactly when their parts are equal byte by byte.
#[derive(Debug, Clone)]
pub struct InboxKey {
    endpoint: EndpointId,
    message_id: MessageId,
    hash: IdentityHash,
}

impl InboxKey {
    /// Pairs an endpoint with a message id and hashes them.
    #[must_use]
    pub fn new(endpoint: EndpointId, message_id: MessageId) -> Self {
        let hash = IdentityHash::of(endpoint.as_str(), message_id.as_str());
        Self {
            endpoint,
            message_id,
            hash,
        }
    }

    /// The endpoint half.
    #[must_use]
    pub fn endpoint(&self) -> &EndpointId {
        &self.endpoint
    }

    /// The message half.
    #[must_use]
    pub fn message_id(&self) -> &MessageId {
        &self.message_id
    }

    /// The identity that providers key on.
    #[must_use]
    pub fn identity(&self) -> &IdentityHash {
        &self.hash
    }
}

impl PartialEq for InboxKey {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash
    }
}

impl Eq for InboxKey {}

impl Hash for InboxKey {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}
