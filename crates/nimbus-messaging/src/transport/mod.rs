//! What a broker must offer, small enough to implement in a day (SUB-33).

mod capabilities;
mod delivery;
mod error;
mod lane;
mod receipt;
mod sender;

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use nimbus_inbox_core::EndpointId;

pub use capabilities::TransportCapabilities;
pub use delivery::Delivery;
pub use error::{TransportError, TransportErrorKind};
pub use lane::{Lane, LaneLock, LaneSource, Stopper};
pub use receipt::{Receipt, SettledSignal, Settlement, SettlementTasks, Settler};
pub use sender::{ScheduledId, Sender};

use crate::model::Address;
use crate::session::SessionDirectory;

/// A broker, as the subscriber sees it.
#[async_trait]
pub trait Transport: Debug + Send + Sync + 'static {
    /// A short lower-case name for logs, such as `embedded`.
    fn name(&self) -> &'static str;

    /// What it can do, and what it can't.
    fn capabilities(&self) -> TransportCapabilities;

    /// Reaches the broker and creates what `endpoint` needs where that is allowed, before the first
    /// message is received.
    ///
    /// # Errors
    ///
    /// A configuration error when it can't serve as it is set up, else a transient one.
    async fn verify(&self, endpoint: &EndpointId) -> Result<(), TransportError>;

    /// A sender for an endpoint, a topic or a well-known address.
    ///
    /// # Errors
    ///
    /// [`TransportError`], transient or configuration. An address that nothing receives from may
    /// show only when sending.
    async fn sender(&self, address: &Address) -> Result<Arc<dyn Sender>, TransportError>;

    /// Where a receiver of `endpoint` gets its lanes.
    ///
    /// # Errors
    ///
    /// [`TransportError`], transient or configuration.
    async fn lanes(&self, endpoint: &EndpointId) -> Result<Box<dyn LaneSource>, TransportError>;

    /// Looks at the sessions of `endpoint`, for tools; `None` where the broker can't list them,
    /// unless a transport says otherwise.
    ///
    /// # Errors
    ///
    /// [`TransportError`], transient or configuration.
    async fn session_directory(
        &self,
        _endpoint: &EndpointId,
    ) -> Result<Option<Arc<dyn SessionDirectory>>, TransportError> {
        Ok(None)
    }
}
