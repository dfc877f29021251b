use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use lapin::BasicProperties;
use nimbus_messaging::{Settlement, Settler, TransportError};
use tokio_util::task::task_tracker::TaskTrackerToken;

use super::held::Held;
use crate::error::unsupported;
use crate::message::{Outgoing, with_reason};
use crate::shared::Shared;
use crate::topology::{EndpointNames, short};

pub(super) struct RabbitMqSettler {
    shared: Arc<Shared>,
    names: Arc<EndpointNames>,
    held: Arc<Held>,
    tag: u64,
    original: BasicProperties,
    body: Bytes,
    /// Keeps the partition, if the lane is dropped, until this is settled or dropped.
    _unsettled: TaskTrackerToken,
}

impl RabbitMqSettler {
    pub(super) fn new(
        shared: Arc<Shared>,
        names: Arc<EndpointNames>,
        held: Arc<Held>,
        (tag, original): (u64, BasicProperties),
        body: Bytes,
    ) -> Self {
        Self {
            _unsettled: held.receipts.token(),
            shared,
            names,
            held,
            tag,
            original,
            body,
        }
    }

    /// A rejection carries no reason, so the message is sent to the dead letters with one. After a
    /// crash in between it is dead-lettered twice, never lost.
    async fn dead_letter(&self, reason: &str, description: &str) -> Result<(), TransportError> {
        let dead = Outgoing {
            exchange: short(&self.names.dead_letters()),
            routing_key: short(""),
            properties: with_reason(&self.original, reason, description),
            body: self.body.clone(),
        };
        self.shared.publisher.publish(vec![dead]).await?;
        self.held.acknowledge(self.tag).await
    }
}

#[async_trait]
impl Settler for RabbitMqSettler {
    async fn settle(self: Box<Self>, settlement: Settlement) -> Result<(), TransportError> {
        self.held.check()?;
        match settlement {
            Settlement::Complete => self.held.acknowledge(self.tag).await,
            Settlement::Abandon { delay } if delay.is_zero() => self.held.put_back(self.tag).await,
            Settlement::Abandon { delay } => {
                self.held.put_back_after(self.tag, delay);
                Ok(())
            }
            Settlement::DeadLetter {
                reason,
                description,
            } => self.dead_letter(&reason, &description).await,
            Settlement::Defer => Err(unsupported("RabbitMQ has no deferred messages")),
        }
    }
}
