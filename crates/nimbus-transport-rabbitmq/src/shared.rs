//! What every part of one transport uses.

use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{Clock, SystemClock, Timestamp};
use nimbus_messaging::{SettlementTasks, TransportError};
use tokio::sync::OnceCell;
use tokio::time::timeout;

use crate::connection::{Link, RabbitMqConnection};
use crate::options::RabbitMqOptions;
use crate::send::Publisher;
use crate::topology::{self, EndpointNames, Ladder, Topology};

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) options: RabbitMqOptions,
    pub(crate) publisher: Publisher,
    /// A connection of its own for what is received: a broker that lets senders wait stops reading
    /// from their connection, and settlements must not wait with them.
    pub(crate) receiving: Link,
    pub(crate) settlements: SettlementTasks,
    pub(crate) ladder: Ladder,
    ladder_declared: OnceCell<()>,
}

impl Shared {
    pub(crate) fn new(connection: RabbitMqConnection, options: RabbitMqOptions) -> Arc<Self> {
        let patience = options.connect_timeout;
        let sending = Link::new(connection.clone(), "sending", patience);
        Arc::new(Self {
            publisher: Publisher::new(sending, options.confirm_timeout),
            receiving: Link::new(connection, "receiving", patience),
            settlements: SettlementTasks::new(options.confirm_timeout),
            ladder: Ladder::new(&options.prefix),
            ladder_declared: OnceCell::new(),
            options,
        })
    }

    pub(crate) fn names(&self, endpoint: &str) -> EndpointNames {
        EndpointNames::new(&self.options.prefix, endpoint)
    }

    #[expect(clippy::unused_self, reason = "where the transport's time comes from")]
    pub(crate) fn now(&self) -> Timestamp {
        SystemClock.now()
    }

    /// Declares that, on a channel of its own: the broker closes one on which something differs.
    pub(crate) async fn declare(&self, topology: &Topology) -> Result<(), TransportError> {
        let channel = self.publisher.link().channel().await?;
        topology::declare(&channel, topology).await
    }

    pub(crate) async fn check(&self, topology: &Topology) -> Result<(), TransportError> {
        let channel = self.publisher.link().channel().await?;
        topology::check(&channel, topology).await
    }

    /// Whether anything is declared that takes what is sent there.
    pub(crate) async fn receives(&self, names: &EndpointNames) -> Result<bool, TransportError> {
        let patience = self.options.connect_timeout;
        let asking = async {
            let channel = self.publisher.link().channel().await?;
            topology::exists(&channel, names.ingress()).await
        };
        timeout(patience, asking)
            .await
            .map_err(|_| silent(&self.publisher.link().place(), patience))?
    }

    /// Makes sure that the ladder is there and leads to the endpoint.
    pub(crate) async fn lead_to(&self, names: &EndpointNames) -> Result<(), TransportError> {
        if !self.options.auto_declare {
            return Ok(());
        }
        self.ladder_declared
            .get_or_try_init(|| async { self.declare(&topology::ladder(&self.ladder)).await })
            .await?;
        self.declare(&Topology(vec![self.ladder.way_to(names)]))
            .await
    }
}

fn silent(place: &str, patience: Duration) -> TransportError {
    TransportError::transient(format!(
        "RabbitMQ at {place} did not answer within {patience:?}"
    ))
}
