use std::num::NonZeroU32;
use std::sync::Arc;

use super::line::StoredMessage;
use crate::transport::DeadLetter;

/// Whether a message that comes back was delivered often enough.
pub(super) fn reached(limit: Option<NonZeroU32>, delivery_count: u32) -> bool {
    limit.is_some_and(|limit| delivery_count >= limit.get())
}

pub(super) fn over_the_limit(sequence: i64, message: StoredMessage) -> DeadLetter {
    let description = format!(
        "the message came back after delivery {} and the endpoint allows no more",
        message.delivery_count
    );
    dead_letter(
        sequence,
        message,
        "MaxDeliveryCountExceeded".to_owned(),
        description,
    )
}

pub(super) fn dead_letter(
    sequence: i64,
    message: StoredMessage,
    reason: String,
    description: String,
) -> DeadLetter {
    DeadLetter {
        envelope: Arc::unwrap_or_clone(message.envelope),
        sequence_number: sequence,
        delivery_count: message.delivery_count,
        reason,
        description,
    }
}
