//! An endpoint of its own for each test.

use std::error::Error;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_testing::{Namespace, TcpProxy};
use nimbus_messaging::{
    Address, Delivery, Envelope, Lane, LaneSource, Sender, Transport, TransportError,
};
use nimbus_transport_rabbitmq::{RabbitMqOptions, RabbitMqTransport};

use crate::server::{self, Endpoints};

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// A transport and an endpoint that is deleted after the test.
pub(crate) struct Ours {
    pub(crate) transport: RabbitMqTransport,
    pub(crate) endpoint: EndpointId,
    endpoints: Endpoints,
}

impl Ours {
    pub(crate) fn named(transport: RabbitMqTransport) -> Self {
        let name = format!("{}_Billing", Namespace::unique().name());
        let endpoint = EndpointId::new(name).expect("a usable name");
        let endpoints = Endpoints::default();
        endpoints.remember(&transport, &endpoint);
        Self {
            transport,
            endpoint,
            endpoints,
        }
    }

    pub(crate) async fn declared(options: RabbitMqOptions) -> Self {
        let ours = Self::named(server::open(server::address(), options));
        ours.transport
            .verify(&ours.endpoint)
            .await
            .expect("declaring");
        ours
    }

    /// Reached through a proxy.
    pub(crate) async fn behind_a_proxy() -> (Self, TcpProxy) {
        let proxy = TcpProxy::to(server::socket()).await.expect("a free port");
        let address = server::through(proxy.address());
        let ours = Self::named(server::open(&address, server::options()));
        ours.transport
            .verify(&ours.endpoint)
            .await
            .expect("declaring");
        (ours, proxy)
    }

    /// The same endpoint with other options.
    pub(crate) fn with(&self, options: RabbitMqOptions) -> RabbitMqTransport {
        let transport = server::open(server::address(), options);
        self.endpoints.remember(&transport, &self.endpoint);
        transport
    }

    pub(crate) async fn sender(&self) -> Arc<dyn Sender> {
        let address = Address::new(self.endpoint.as_str());
        self.transport.sender(&address).await.expect("a sender")
    }

    pub(crate) async fn lanes(&self) -> Box<dyn LaneSource> {
        self.transport.lanes(&self.endpoint).await.expect("lanes")
    }

    pub(crate) async fn accept(&self) -> Box<dyn Lane> {
        let mut lanes = self.lanes().await;
        let accepted = tokio::time::timeout(PATIENCE, lanes.accept_next()).await;
        let accepted = accepted.expect("a lane in time").expect("a lane");
        accepted.expect("nobody stopped it")
    }

    /// The name of one of its exchanges or queues.
    pub(crate) fn name(&self, end: &str) -> String {
        let endpoint = self.endpoint.as_str().to_ascii_lowercase();
        format!("{}{endpoint}{end}", server::PREFIX)
    }
}

pub(crate) async fn next(lane: &mut Box<dyn Lane>) -> Delivery {
    let received = lane.receive(PATIENCE).await.expect("a receive");
    received.expect("a message in time")
}

pub(crate) fn message(id: &str, session: &str) -> Envelope {
    Envelope {
        message_id: Some(id.to_owned()),
        session_id: Some(session.to_owned()),
        ..Envelope::default()
    }
}

/// Everything that an error says, its causes and its `Debug` included.
pub(crate) fn told(error: &TransportError) -> String {
    let mut text = format!("{error} {error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        let _ = write!(text, " {cause} {cause:?}");
        source = cause.source();
    }
    text
}
