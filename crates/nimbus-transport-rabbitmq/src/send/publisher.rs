use std::fmt;
use std::time::Duration;

use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::{Channel, Confirmation};
use nimbus_messaging::TransportError;
use tokio::sync::Mutex;
use tokio::time::timeout;

use crate::connection::Link;
use crate::error::{failed, is_not_found, names, unroutable};
use crate::message::Outgoing;

/// Publishes with confirmations, on one channel that is opened again when it is gone.
pub(crate) struct Publisher {
    link: Link,
    patience: Duration,
    channel: Mutex<Option<Channel>>,
}

impl Publisher {
    pub(crate) fn new(link: Link, patience: Duration) -> Self {
        Self {
            link,
            patience,
            channel: Mutex::default(),
        }
    }

    pub(crate) fn link(&self) -> &Link {
        &self.link
    }

    /// Publishes in order and waits until the broker has confirmed all of them.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have published none, some or all.
    pub(crate) async fn publish(&self, messages: Vec<Outgoing>) -> Result<(), TransportError> {
        timeout(self.patience, self.publish_all(messages))
            .await
            .unwrap_or_else(|_| {
                Err(TransportError::transient(format!(
                    "RabbitMQ at {} did not confirm what was sent within {:?}; it may have taken \
                     it all the same. A broker that is short of memory or disk lets senders wait",
                    self.link.place(),
                    self.patience
                )))
            })
    }

    async fn publish_all(&self, messages: Vec<Outgoing>) -> Result<(), TransportError> {
        let channel = self.open().await?;
        let options = BasicPublishOptions {
            mandatory: true,
            ..BasicPublishOptions::default()
        };
        let mut confirmations = Vec::with_capacity(messages.len());
        for message in messages {
            let Outgoing {
                exchange,
                routing_key,
                properties,
                body,
            } = message;
            let address = exchange.as_str().to_owned();
            let published = channel
                .basic_publish(exchange, routing_key, options, &body, properties)
                .await
                .map_err(|error| refused(&address, error))?;
            confirmations.push((address, published));
        }
        let mut outcome = Ok(());
        for (address, confirmation) in confirmations {
            let confirmed = match confirmation.await {
                Ok(confirmation) => confirmed(&address, &confirmation),
                Err(error) => Err(refused(&address, error)),
            };
            // The first failure tells the most; the others are waited for all the same.
            outcome = outcome.and(confirmed);
        }
        outcome
    }

    async fn open(&self) -> Result<Channel, TransportError> {
        let mut current = self.channel.lock().await;
        if let Some(channel) = current
            .as_ref()
            .filter(|channel| channel.status().connected())
        {
            return Ok(channel.clone());
        }
        *current = None;
        let channel = self.link.channel().await?;
        let options = ConfirmSelectOptions::default();
        channel
            .confirm_select(options)
            .await
            .map_err(|error| failed("asking RabbitMQ for confirmations", error))?;
        *current = Some(channel.clone());
        Ok(channel)
    }
}

fn confirmed(address: &str, confirmation: &Confirmation) -> Result<(), TransportError> {
    match confirmation {
        Confirmation::Ack(None) => Ok(()),
        Confirmation::Ack(Some(_)) | Confirmation::Nack(Some(_)) => Err(unroutable(format!(
            "RabbitMQ returned what was sent to {address}: no queue is bound there; start the \
             endpoint's subscriber once, or declare it"
        ))),
        Confirmation::Nack(None) | Confirmation::NotRequested => {
            Err(TransportError::transient(format!(
                "RabbitMQ refused what was sent to {address}; a queue may be full, or without a \
                 majority of its members"
            )))
        }
    }
}

/// The broker closes the whole channel when something is sent to an exchange that is gone, and
/// everybody who waits for a confirmation there hears of it.
fn refused(address: &str, error: lapin::Error) -> TransportError {
    if is_not_found(&error) && names(&error, address) {
        return nobody_at(address).with_source(error);
    }
    if is_not_found(&error) {
        return TransportError::transient(format!(
            "the channel on which {address} was sent to is closed; what was sent may have been \
             taken all the same"
        ))
        .with_source(error);
    }
    failed(format_args!("sending to {address}"), error)
}

pub(super) fn nobody_at(address: &str) -> TransportError {
    unroutable(format!(
        "RabbitMQ has no exchange {address}, and nothing was sent; start the endpoint's subscriber \
         once, or declare it"
    ))
}

impl fmt::Debug for Publisher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Publisher")
            .field("link", &self.link)
            .finish_non_exhaustive()
    }
}
