//! The contract between the inbox and the providers that keep its records.

mod capabilities;
mod ext;
mod forward;
mod purge;
mod recorded;
mod stats;

use std::fmt::Debug;

use async_trait::async_trait;

pub use capabilities::StoreCapabilities;
pub use ext::InboxStoreExt;
pub use purge::{Cutoff, PurgeLimit};
pub use recorded::Recorded;
pub use stats::StoreStats;

use crate::{EndpointId, Error, InboxKey, Timestamp};

/// A durable set of keys whose handler completed, with the time each was first recorded.
///
/// Every provider passes the conformance suite of `nimbus-inbox-testing`. Batches are the only
/// form here (INB-24); [`InboxStoreExt`] adds the single ones.
///
/// # Cancel safety
///
/// A call that is dropped leaves either no record or a whole one (INB-25), and the store usable.
/// Whether a dropped [`record`](Self::record) took effect is unknown to the caller; recording
/// again is always right.
#[async_trait]
pub trait InboxStore: Debug + Send + Sync + 'static {
    /// A short lower-case name for metrics and logs, such as `sqlite`.
    fn provider(&self) -> &'static str;

    /// What this store can promise beyond the contract.
    fn capabilities(&self) -> StoreCapabilities;

    /// Reaches the store, and creates its schema where it is missing and may be created
    /// (INB-27, INB-32).
    ///
    /// # Errors
    ///
    /// A configuration error when the store can't serve as it is set up, else a transient one.
    async fn verify(&self) -> Result<(), Error>;

    /// For each key, in order, when it was first recorded, or `None` if it was not.
    ///
    /// # Errors
    ///
    /// Any [`ErrorKind`](crate::ErrorKind); nothing is known of any key then.
    async fn check(&self, keys: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error>;

    /// Records the keys in the given order, keeping the first creation time of those that exist.
    ///
    /// Where the store can, all of them become durable at once; where it cannot, a failure leaves
    /// a prefix recorded, so the source of a stand-in goes first (INB-15). A key that stands twice
    /// in one call is recorded by its first occurrence.
    ///
    /// # Errors
    ///
    /// Any [`ErrorKind`](crate::ErrorKind); [`OutcomeUnknown`](crate::ErrorKind::OutcomeUnknown)
    /// when the records may exist all the same.
    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error>;

    /// Removes up to `limit` of the endpoint's oldest records that are strictly older than the
    /// cutoff, and says how many (INB-23).
    ///
    /// Fewer than `limit` tells the cleanup that nothing expired is left. The store's own clock
    /// turns an age into an instant. No other endpoint's record is touched,
    /// nor one that was recreated after the purge looked.
    ///
    /// # Errors
    ///
    /// Any [`ErrorKind`](crate::ErrorKind); records may have been removed all the same.
    async fn purge(
        &self,
        endpoint: &EndpointId,
        cutoff: Cutoff,
        limit: PurgeLimit,
    ) -> Result<u64, Error>;

    /// What it holds of an endpoint, for tools; `None` from a store that doesn't count, as those
    /// do that leave this method out. It may read every record of the endpoint.
    ///
    /// # Errors
    ///
    /// As [`check`](Self::check).
    async fn stats(&self, _endpoint: &EndpointId) -> Result<Option<StoreStats>, Error> {
        Ok(None)
    }
}
