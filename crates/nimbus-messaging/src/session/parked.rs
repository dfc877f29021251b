use crate::wire::Envelope;

/// A message set aside while its session is blocked or draining (SUB-35).
#[derive(Debug, Clone, PartialEq)]
pub struct ParkedCopy {
    /// Its place in the session's order, and its identity among the parked.
    pub reference: ParkedRef,
    /// The message, with its source id in `InboxMessageId` where that is usable.
    pub envelope: Envelope,
}

/// Names one parked copy, so that removing it can't remove a later one (SUB-18).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ParkedRef {
    /// Place in the session's order; copies are handled lowest first.
    pub sequence: i64,
    /// Message id of the copy. Two copies may share a sequence, never a sequence and an id.
    pub id: String,
    /// Raised by the store when the same copy is parked again; the store ignores it on parking.
    pub generation: u32,
}
