/// What a store can promise beyond the contract of [`InboxStore`](crate::InboxStore).
///
/// The conformance suite reads it to choose its cases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreCapabilities {
    /// Records survive the end of the process.
    pub durable: bool,
    /// Several processes can share the records.
    pub shared: bool,
    /// All keys of one `record` call become durable at once.
    pub atomic_batches: bool,
}
