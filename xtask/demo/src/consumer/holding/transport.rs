use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{
    Address, LaneSource, Sender, SessionDirectory, SettlementTasks, Transport,
    TransportCapabilities, TransportError,
};

use super::Hold;
use super::lane::HoldingLanes;

/// A held settlement counts as failed after this; the kill comes long before.
const SETTLEMENT_BOUND: Duration = Duration::from_secs(60);

/// A transport that tells of every delivery, and holds one message before it is settled.
#[derive(Debug)]
pub(in crate::consumer) struct HoldingTransport<T> {
    inner: T,
    hold: Arc<Hold>,
    settlements: SettlementTasks,
}

impl<T> HoldingTransport<T> {
    pub(in crate::consumer) fn new(inner: T, hold: Arc<Hold>) -> Self {
        Self {
            inner,
            hold,
            settlements: SettlementTasks::new(SETTLEMENT_BOUND),
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl<T: Transport> Transport for HoldingTransport<T> {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn capabilities(&self) -> TransportCapabilities {
        self.inner.capabilities()
    }

    async fn verify(&self, endpoint: &EndpointId) -> Result<(), TransportError> {
        self.inner.verify(endpoint).await
    }

    async fn sender(&self, address: &Address) -> Result<Arc<dyn Sender>, TransportError> {
        self.inner.sender(address).await
    }

    async fn session_directory(
        &self,
        endpoint: &EndpointId,
    ) -> Result<Option<Arc<dyn SessionDirectory>>, TransportError> {
        self.inner.session_directory(endpoint).await
    }

    async fn lanes(&self, endpoint: &EndpointId) -> Result<Box<dyn LaneSource>, TransportError> {
        let inner = self.inner.lanes(endpoint).await?;
        let hold = Arc::clone(&self.hold);
        Ok(Box::new(HoldingLanes::new(
            inner,
            hold,
            self.settlements.clone(),
        )))
    }
}
