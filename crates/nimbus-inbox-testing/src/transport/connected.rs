use std::sync::Arc;

use async_trait::async_trait;
use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{
    Address, LaneSource, Sender, SessionStore, SettlementTasks, Transport, TransportCapabilities,
    TransportError,
};

use super::call::Connection;
use super::lanes::InMemoryLanes;
use super::sender::InMemorySender;
use super::session_store::InMemorySessions;
use super::{BrokerOperation, InMemoryBroker, ProcessId};

/// The connection of one simulated process to an [`InMemoryBroker`].
///
/// Clones belong to the same process.
#[derive(Debug, Clone)]
pub struct InMemoryTransport {
    connection: Connection,
    settlements: SettlementTasks,
}

impl InMemoryTransport {
    pub(super) fn new(broker: InMemoryBroker, process: ProcessId) -> Self {
        let settlements = SettlementTasks::new(broker.shared.options.settlement_bound);
        Self {
            connection: Connection { broker, process },
            settlements,
        }
    }

    /// The broker it is connected to.
    #[must_use]
    pub fn broker(&self) -> &InMemoryBroker {
        &self.connection.broker
    }

    /// The process it belongs to.
    #[must_use]
    pub fn process(&self) -> ProcessId {
        self.connection.process
    }

    /// The store of an endpoint's session state, also when the broker
    /// [says](TransportCapabilities::session_store) that its lanes have none.
    #[must_use]
    pub fn session_store(&self, endpoint: &EndpointId) -> Arc<dyn SessionStore> {
        let address = Address::new(endpoint.as_str());
        Arc::new(InMemorySessions::new(self.connection.clone(), address))
    }
}

#[async_trait]
impl Transport for InMemoryTransport {
    fn name(&self) -> &'static str {
        "in_memory"
    }

    fn capabilities(&self) -> TransportCapabilities {
        self.broker().shared.options.capabilities
    }

    /// Declares the endpoint.
    async fn verify(&self, endpoint: &EndpointId) -> Result<(), TransportError> {
        let address = Address::new(endpoint.as_str());
        let call = self
            .connection
            .call(BrokerOperation::Verify, &address, None, Vec::new())
            .await?;
        let rules = self.broker().rules();
        call.run(|state, _| {
            state.declare(&address, rules);
            Ok(())
        })
        .await
    }

    async fn sender(&self, address: &Address) -> Result<Arc<dyn Sender>, TransportError> {
        let call = self
            .connection
            .call(BrokerOperation::OpenSender, address, None, Vec::new())
            .await?;
        call.run(|_, _| Ok(())).await?;
        let connection = self.connection.clone();
        Ok(Arc::new(InMemorySender::new(connection, address.clone())))
    }

    async fn lanes(&self, endpoint: &EndpointId) -> Result<Box<dyn LaneSource>, TransportError> {
        let address = Address::new(endpoint.as_str());
        let call = self
            .connection
            .call(BrokerOperation::OpenLanes, &address, None, Vec::new())
            .await?;
        call.run(|state, now| state.queue(&address, now).map(drop))
            .await?;
        Ok(Box::new(InMemoryLanes::new(
            self.connection.clone(),
            address,
            self.settlements.clone(),
        )))
    }
}
