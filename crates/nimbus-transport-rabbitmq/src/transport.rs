use std::sync::Arc;

use async_trait::async_trait;
use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{
    Address, LaneSource, Sender, SessionId, Transport, TransportCapabilities, TransportError,
};

use crate::connection::RabbitMqConnection;
use crate::lanes::RabbitMqLanes;
use crate::options::RabbitMqOptions;
use crate::send::RabbitMqSender;
use crate::shared::Shared;
use crate::topology::{self, Topology};

/// RabbitMQ as a transport.
///
/// Connections are made when they are first needed, and again whenever they are gone. Clones share
/// them.
#[derive(Debug, Clone)]
pub struct RabbitMqTransport {
    shared: Arc<Shared>,
}

impl RabbitMqTransport {
    /// A transport with default options. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// A configuration error when the address would send a password in the clear.
    pub fn new(connection: RabbitMqConnection) -> Result<Self, TransportError> {
        Self::with_options(connection, RabbitMqOptions::default())
    }

    /// A transport. Nothing is connected yet.
    ///
    /// # Errors
    ///
    /// A configuration error that lists what is wrong with the options, or when the address would
    /// send a password in the clear.
    pub fn with_options(
        connection: RabbitMqConnection,
        options: RabbitMqOptions,
    ) -> Result<Self, TransportError> {
        options.validate()?;
        connection.address()?;
        Ok(Self {
            shared: Shared::new(connection, options),
        })
    }

    /// Declares what an endpoint needs, and what scheduled messages need, where it is missing.
    ///
    /// # Errors
    ///
    /// A configuration error when something exists and differs, which names the argument, or when
    /// the user may not declare; else a transient one.
    ///
    /// # Cancel safety
    ///
    /// Dropped, some of it is declared; doing it again declares the rest.
    pub async fn declare(&self, endpoint: &EndpointId) -> Result<(), TransportError> {
        self.shared.declare(&self.topology(endpoint)).await
    }

    /// Looks whether everything that an endpoint needs is there, changing nothing. How exchanges
    /// are bound, and with what arguments queues were declared, can't be asked.
    ///
    /// # Errors
    ///
    /// A configuration error that names what is missing, else a transient one.
    ///
    /// # Cancel safety
    ///
    /// It changes nothing.
    pub async fn check(&self, endpoint: &EndpointId) -> Result<(), TransportError> {
        self.shared.check(&self.topology(endpoint)).await
    }

    /// What an endpoint needs, and what scheduled messages need.
    #[must_use]
    pub fn topology(&self, endpoint: &EndpointId) -> Topology {
        let names = self.shared.names(endpoint.as_str());
        let Topology(mut declared) = topology::ladder(&self.shared.ladder);
        let Topology(own) = topology::endpoint(&names, &self.shared.options);
        declared.extend(own);
        declared.push(self.shared.ladder.way_to(&names));
        Topology(declared)
    }

    /// The number of the partition that a session's messages are in.
    #[must_use]
    pub fn partition_of(&self, session: &SessionId) -> u16 {
        topology::partition_of(session.as_str(), self.shared.options.partitions)
    }

    /// Waits for settlements under way, then closes the connections. Lanes that are still held are
    /// lost.
    ///
    /// # Cancel safety
    ///
    /// Dropped, connections may stay open until the transport is dropped.
    pub async fn close(&self) {
        self.shared.settlements.drained().await;
        self.shared.receiving.close().await;
        self.shared.publisher.link().close().await;
    }
}

#[async_trait]
impl Transport for RabbitMqTransport {
    fn name(&self) -> &'static str {
        "rabbitmq"
    }

    fn capabilities(&self) -> TransportCapabilities {
        TransportCapabilities {
            deferral: false,
            session_store: false,
            scheduled_send: true,
            cancel_scheduled: false,
            // A queue keeps a message for as long as nobody settles it.
            redelivery_horizon: None,
        }
    }

    async fn verify(&self, endpoint: &EndpointId) -> Result<(), TransportError> {
        if self.shared.options.auto_declare {
            let names = self.shared.names(endpoint.as_str());
            let own = topology::endpoint(&names, &self.shared.options);
            self.shared.declare(&own).await?;
            return self.shared.lead_to(&names).await;
        }
        self.check(endpoint).await
    }

    async fn sender(&self, address: &Address) -> Result<Arc<dyn Sender>, TransportError> {
        let shared = Arc::clone(&self.shared);
        Ok(Arc::new(RabbitMqSender::new(shared, address)))
    }

    async fn lanes(&self, endpoint: &EndpointId) -> Result<Box<dyn LaneSource>, TransportError> {
        let names = self.shared.names(endpoint.as_str());
        Ok(Box::new(RabbitMqLanes::new(
            Arc::clone(&self.shared),
            names,
        )))
    }
}
