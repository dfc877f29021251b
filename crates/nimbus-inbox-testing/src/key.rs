use nimbus_inbox_core::{EndpointId, InboxKey, MessageId};

/// A key out of literals, for tests.
///
/// # Panics
///
/// When either part can't be used (INB-03). Production code handles that instead.
#[must_use]
pub fn key(endpoint: &str, message_id: &str) -> InboxKey {
    InboxKey::new(
        EndpointId::new(endpoint).expect("a test passed an unusable endpoint"),
        MessageId::new(message_id).expect("a test passed an unusable message id"),
    )
}
