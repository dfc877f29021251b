use std::time::Duration;

use lapin::options::{BasicConsumeOptions, BasicQosOptions};
use lapin::types::FieldTable;
use lapin::{Channel, Consumer};
use nimbus_messaging::TransportError;
use tokio::runtime::Handle;
use tokio::time::timeout;

use crate::error::failed;
use crate::shared::Shared;
use crate::topology::{EndpointNames, short};

/// How long closing a channel may take. One that is not closed by then is closed with its
/// connection.
const PATIENCE: Duration = Duration::from_secs(10);

/// A consumer of a partition, on a channel of its own.
///
/// The consumer is never cancelled: that would let the next one have what follows while the last
/// delivery is unsettled. Closing the channel gives that back first.
#[derive(Debug)]
pub(super) struct Consuming(Option<Open>);

#[derive(Debug)]
struct Open {
    channel: Channel,
    /// Dropping the last of them cancels.
    consumer: Consumer,
}

impl Consuming {
    /// Waits in line for a partition, behind those who came before.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it waits for nothing: the channel is closed.
    pub(super) async fn start(
        shared: &Shared,
        names: &EndpointNames,
        partition: u16,
    ) -> Result<Self, TransportError> {
        let queue = names.partition(partition);
        let channel = shared.receiving.channel().await?;
        let started = async {
            // One at a time: with more, what comes back would come back out of order.
            channel.basic_qos(1, BasicQosOptions::default()).await?;
            let options = BasicConsumeOptions::default();
            let tag = "".into();
            let consumed =
                channel.basic_consume(short(&queue), tag, options, FieldTable::default());
            consumed.await
        };
        let patience = shared.options.connect_timeout;
        let consumer = timeout(patience, started)
            .await
            .map_err(|_| {
                TransportError::transient(format!(
                    "RabbitMQ did not begin to deliver from {queue} within {patience:?}"
                ))
            })?
            .map_err(|error| failed(format_args!("receiving from {queue}"), error))?;
        Ok(Self(Some(Open { channel, consumer })))
    }

    pub(super) fn channel(&self) -> Option<&Channel> {
        self.0.as_ref().map(|open| &open.channel)
    }

    /// Another handle to what it receives.
    pub(super) fn stream(&self) -> Option<Consumer> {
        self.0.as_ref().map(|open| open.consumer.clone())
    }

    pub(super) fn stream_mut(&mut self) -> Option<&mut Consumer> {
        self.0.as_mut().map(|open| &mut open.consumer)
    }

    pub(super) fn is_connected(&self) -> bool {
        self.channel()
            .is_some_and(|channel| channel.status().connected())
    }

    /// Gives back what is unsettled, and the place in the line.
    pub(super) async fn close(mut self) {
        if let Some(open) = self.0.take() {
            open.close().await;
        }
    }
}

impl Open {
    async fn close(self) {
        // A channel that is closed already has given everything back.
        let _ = timeout(PATIENCE, self.channel.close(200, "OK".into())).await;
    }
}

impl Drop for Consuming {
    fn drop(&mut self) {
        // Without a runtime the connection is gone as well.
        if let (Some(open), Ok(runtime)) = (self.0.take(), Handle::try_current()) {
            runtime.spawn(open.close());
        }
    }
}
