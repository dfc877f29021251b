use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::StreamExt;
use lapin::Consumer;
use lapin::message::Delivery as AmqpDelivery;
use nimbus_messaging::{
    Delivery, Lane, LaneLock, Receipt, SessionId, SessionStore, TransportError,
};
use tokio::runtime::Handle;
use tokio::sync::mpsc;
use tokio::time::{Instant, timeout_at};

use super::consumer::Consuming;
use super::held::Held;
use super::settler::RabbitMqSettler;
use crate::error::unsupported;
use crate::message::{Incoming, decode, encode_again};
use crate::send::delayed;
use crate::shared::Shared;
use crate::topology::{EndpointNames, partition_of};

/// A partition with all its sessions.
#[derive(Debug)]
pub(super) struct RabbitMqLane {
    shared: Arc<Shared>,
    names: Arc<EndpointNames>,
    partition: u16,
    held: Arc<Held>,
    deliveries: mpsc::Receiver<AmqpDelivery>,
    first: Option<AmqpDelivery>,
}

impl RabbitMqLane {
    /// Takes over a consumer that got its first delivery.
    pub(super) fn new(
        shared: Arc<Shared>,
        names: Arc<EndpointNames>,
        partition: u16,
        consuming: Consuming,
        first: AmqpDelivery,
    ) -> Self {
        let stream = consuming.stream();
        let queue = names.partition(partition);
        let held = Arc::new(Held::new(queue, consuming, shared.options.lock_duration));
        // The broker sends one and waits.
        let (send, deliveries) = mpsc::channel(1);
        if let Some(stream) = stream {
            tokio::spawn(watch(Arc::clone(&held), stream, send));
        }
        Self {
            shared,
            names,
            partition,
            held,
            deliveries,
            first: Some(first),
        }
    }

    /// The next one from the broker, whatever it is.
    async fn next(&mut self, until: Instant) -> Result<Option<AmqpDelivery>, TransportError> {
        self.held.check()?;
        if let Some(first) = self.first.take() {
            return Ok(Some(first));
        }
        tokio::select! {
            biased;
            () = self.held.lost().cancelled() => Err(self.held.lock_lost()),
            received = timeout_at(until, self.deliveries.recv()) => match received {
                Ok(Some(delivery)) => Ok(Some(delivery)),
                Ok(None) => Err(self.held.lock_lost()),
                Err(_) => Ok(None),
            },
        }
    }

    /// Sends on what is here too early, or in the wrong partition; it comes again at its place.
    async fn send_on(&self, incoming: Incoming) -> Result<(), TransportError> {
        let Incoming {
            envelope,
            due,
            delivery_tag,
            original,
            ..
        } = incoming;
        let content = (encode_again(&original), envelope.body);
        let session = envelope.session_id.as_deref();
        if self.is_early(due) {
            self.shared.lead_to(&self.names).await?;
        }
        let outgoing = delayed(&self.shared, &self.names, session, content, due);
        self.shared.publisher.publish(vec![outgoing]).await?;
        self.held.acknowledge(delivery_tag).await
    }

    fn is_early(&self, due: Option<nimbus_inbox_core::Timestamp>) -> bool {
        due.is_some_and(|due| due > self.shared.now())
    }

    fn is_astray(&self, session: Option<&str>) -> bool {
        let partitions = self.shared.options.partitions;
        session.is_some_and(|session| partition_of(session, partitions) != self.partition)
    }

    fn hand_out(&self, incoming: Incoming) -> Delivery {
        let settler = RabbitMqSettler::new(
            Arc::clone(&self.shared),
            Arc::clone(&self.names),
            Arc::clone(&self.held),
            (incoming.delivery_tag, incoming.original),
            incoming.envelope.body.clone(),
        );
        Delivery {
            delivery_count: incoming.delivery_count,
            enqueued_at: incoming.sent,
            sequence_number: None,
            envelope: incoming.envelope,
            receipt: Receipt::new(settler, &self.shared.settlements),
        }
    }
}

/// Passes on what comes, and notices when the lock is gone.
async fn watch(held: Arc<Held>, mut stream: Consumer, deliveries: mpsc::Sender<AmqpDelivery>) {
    loop {
        let next = tokio::select! {
            biased;
            () = held.released().cancelled() => return,
            next = stream.next() => next,
            () = held.expired() => {
                tracing::warn!(
                    queue = held.queue,
                    "a lane was not renewed in time; giving its partition to the next receiver"
                );
                None
            }
        };
        let Some(Ok(delivery)) = next else {
            return held.lose().await;
        };
        // A lane that is gone leaves it unsettled, and the broker takes it back.
        if deliveries.send(delivery).await.is_err() {
            held.receipts.close();
        }
    }
}

#[async_trait]
impl Lane for RabbitMqLane {
    async fn receive(&mut self, wait: Duration) -> Result<Option<Delivery>, TransportError> {
        let until = Instant::now() + wait;
        loop {
            let Some(delivery) = self.next(until).await? else {
                return Ok(None);
            };
            let incoming = decode(delivery);
            let session = incoming.envelope.session_id.as_deref();
            if !self.is_early(incoming.due) && !self.is_astray(session) {
                return Ok(Some(self.hand_out(incoming)));
            }
            self.send_on(incoming).await?;
        }
    }

    async fn receive_deferred(
        &mut self,
        _session: &SessionId,
        _sequence_number: i64,
    ) -> Result<Option<Delivery>, TransportError> {
        Err(unsupported("RabbitMQ has no deferred messages"))
    }

    fn lock(&self) -> Arc<dyn LaneLock> {
        Arc::clone(&self.held) as _
    }

    fn sessions(&self) -> Option<Arc<dyn SessionStore>> {
        None
    }

    async fn release(self: Box<Self>) -> Result<(), TransportError> {
        self.held.check()?;
        Arc::clone(&self.held).give_back().await;
        Ok(())
    }
}

impl Drop for RabbitMqLane {
    fn drop(&mut self) {
        if self.held.released().is_cancelled() || self.held.lost().is_cancelled() {
            return;
        }
        // Whoever works on its delivery may still settle it.
        if let Ok(runtime) = Handle::try_current() {
            runtime.spawn(Arc::clone(&self.held).give_back_when_settled());
        }
    }
}
