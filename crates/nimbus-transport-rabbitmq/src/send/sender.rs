use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use lapin::BasicProperties;
use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{
    Address, Envelope, ScheduledId, Sender, TransportError, TransportErrorKind,
};

use super::publisher::nobody_at;
use crate::error::unsupported;
use crate::message::{Limits, Outgoing, encode};
use crate::shared::Shared;
use crate::topology::{EndpointNames, random_key, session_key, short};

/// Sends to one endpoint.
#[derive(Debug)]
pub(crate) struct RabbitMqSender {
    shared: Arc<Shared>,
    names: EndpointNames,
    /// Somebody received there when it was last asked.
    found: AtomicBool,
    /// The ladder leads there.
    led: AtomicBool,
}

impl RabbitMqSender {
    pub(crate) fn new(shared: Arc<Shared>, address: &Address) -> Self {
        Self {
            names: shared.names(address.as_str()),
            shared,
            found: AtomicBool::new(false),
            led: AtomicBool::new(false),
        }
    }

    /// Asks whether somebody receives there before anything is sent: the broker answers a message
    /// to an exchange that is not there by closing the channel, on which others send too.
    async fn find(&self) -> Result<(), TransportError> {
        if self.found.load(Ordering::Relaxed) {
            return Ok(());
        }
        if !self.shared.receives(&self.names).await? {
            return Err(nobody_at(self.names.ingress()));
        }
        self.found.store(true, Ordering::Relaxed);
        Ok(())
    }

    async fn publish(&self, messages: Vec<Outgoing>) -> Result<(), TransportError> {
        let published = self.shared.publisher.publish(messages).await;
        let is_gone = |error: &TransportError| error.kind() == TransportErrorKind::Unroutable;
        if published.as_ref().is_err_and(is_gone) {
            self.found.store(false, Ordering::Relaxed);
            self.led.store(false, Ordering::Relaxed);
        }
        published
    }

    fn admit(&self, messages: &[Envelope]) -> Result<(), TransportError> {
        let limits = Limits::of(&self.shared.options);
        messages
            .iter()
            .try_for_each(|message| limits.admit(message))
    }

    fn at_once(&self, message: Envelope, sent: Timestamp, due: Option<Timestamp>) -> Outgoing {
        let properties = encode(&message, sent, due);
        let session = message.session_id.as_deref();
        to_partition(&self.names, session, properties, message.body)
    }
}

fn key_of(session: Option<&str>) -> String {
    session.map_or_else(random_key, session_key)
}

/// The message on its way to the partition of its session.
fn to_partition(
    names: &EndpointNames,
    session: Option<&str>,
    properties: BasicProperties,
    body: bytes::Bytes,
) -> Outgoing {
    let key = key_of(session);
    Outgoing {
        exchange: short(names.ingress()),
        routing_key: short(&key),
        properties,
        body,
    }
}

/// The message on the rung of the ladder that it has to wait on first, or, if it is due, on its
/// way to the partition of its session.
pub(crate) fn delayed(
    shared: &Shared,
    names: &EndpointNames,
    session: Option<&str>,
    (properties, body): (BasicProperties, bytes::Bytes),
    due: Option<Timestamp>,
) -> Outgoing {
    let delay = due.map(|due| due.saturating_duration_since(shared.now()));
    let step = delay.and_then(|delay| shared.ladder.step(delay, names, &key_of(session)));
    match step {
        None => to_partition(names, session, properties, body),
        Some(step) => Outgoing {
            exchange: short(&step.exchange),
            routing_key: short(&step.routing_key),
            properties,
            body,
        },
    }
}

#[async_trait]
impl Sender for RabbitMqSender {
    async fn send(&self, messages: Vec<Envelope>) -> Result<(), TransportError> {
        if messages.is_empty() {
            return Ok(());
        }
        self.admit(&messages)?;
        self.find().await?;
        let sent = self.shared.now();
        let messages = messages.into_iter();
        self.publish(messages.map(|one| self.at_once(one, sent, None)).collect())
            .await
    }

    async fn schedule(
        &self,
        message: Envelope,
        due: Timestamp,
    ) -> Result<ScheduledId, TransportError> {
        self.admit(std::slice::from_ref(&message))?;
        self.find().await?;
        if !self.led.load(Ordering::Relaxed) {
            self.shared.lead_to(&self.names).await?;
            self.led.store(true, Ordering::Relaxed);
        }
        let properties = encode(&message, self.shared.now(), Some(due));
        let (session, body) = (message.session_id.as_deref(), message.body.clone());
        let content = (properties, body);
        let outgoing = delayed(&self.shared, &self.names, session, content, Some(due));
        self.publish(vec![outgoing]).await?;
        Ok(ScheduledId(uuid::Uuid::new_v4().to_string()))
    }

    async fn cancel_scheduled(&self, _id: &ScheduledId) -> Result<bool, TransportError> {
        Err(unsupported(
            "RabbitMQ can't withdraw a message that waits on the delay ladder",
        ))
    }
}
