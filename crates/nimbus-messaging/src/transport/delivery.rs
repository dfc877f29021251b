use nimbus_inbox_core::Timestamp;

use super::Receipt;
use crate::wire::Envelope;

/// A message that is locked for this receiver until its receipt settles it or the lock ends.
#[derive(Debug)]
pub struct Delivery {
    /// The message.
    pub envelope: Envelope,
    /// How often the broker delivered it, 1 on the first delivery.
    pub delivery_count: u32,
    /// When the broker accepted the message, if it tells.
    pub enqueued_at: Option<Timestamp>,
    /// The broker's number for the message, by which a deferred one is fetched.
    pub sequence_number: Option<i64>,
    /// Settles it.
    pub receipt: Receipt,
}
