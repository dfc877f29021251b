use crate::Timestamp;

/// What a store holds of one endpoint.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoreStats {
    /// How many records.
    pub records: u64,
    /// When the oldest was made.
    pub oldest: Option<Timestamp>,
    /// When the newest was made.
    pub newest: Option<Timestamp>,
}

impl StoreStats {
    /// So many records, made between these instants.
    #[must_use]
    pub fn new(records: u64, oldest: Option<Timestamp>, newest: Option<Timestamp>) -> Self {
        Self {
            records,
            oldest,
            newest,
        }
    }
}
