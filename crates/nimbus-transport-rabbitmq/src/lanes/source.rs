use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::Stream;
use lapin::message::Delivery as AmqpDelivery;
use nimbus_messaging::{Lane, LaneSource, Stopper, TransportError};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::consumer::Consuming;
use super::lane::RabbitMqLane;
use crate::error::failed;
use crate::shared::Shared;
use crate::topology::EndpointNames;

/// How long a new consumer is given to get what waits for it, before the next one starts. What is
/// delivered to more consumers than there are lanes to hand out may have to be given back, and
/// that counts as a delivery.
const FIRST_DELIVERY: Duration = Duration::from_millis(5);

/// Waits in line for every partition of an endpoint.
#[derive(Debug)]
pub(crate) struct RabbitMqLanes {
    shared: Arc<Shared>,
    names: Arc<EndpointNames>,
    waiting: Vec<(u16, Consuming)>,
    stop: CancellationToken,
}

#[derive(Debug)]
struct RabbitMqStopper(CancellationToken);

impl RabbitMqLanes {
    pub(crate) fn new(shared: Arc<Shared>, names: EndpointNames) -> Self {
        Self {
            shared,
            names: Arc::new(names),
            waiting: Vec::new(),
            stop: CancellationToken::new(),
        }
    }

    /// Waits for a lane, first starting a consumer for every partition that has none.
    async fn next(&mut self) -> Result<RabbitMqLane, TransportError> {
        let mut missing: Vec<_> = (0..self.shared.options.partitions)
            .filter(|partition| self.waiting.iter().all(|(waiting, _)| waiting != partition))
            .collect();
        // Receivers that start together do not line up in the same order.
        fastrand::shuffle(&mut missing);
        for partition in missing {
            let consuming = Consuming::start(&self.shared, &self.names, partition).await?;
            self.waiting.push((partition, consuming));
            if let Ok(lane) = timeout(FIRST_DELIVERY, self.delivered()).await {
                return lane;
            }
        }
        self.delivered().await
    }

    /// Waits until one of the consumers got something.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has taken nothing.
    async fn delivered(&mut self) -> Result<RabbitMqLane, TransportError> {
        let (index, received) = poll_fn(|context| self.poll_waiting(context)).await;
        let (partition, consuming) = self.waiting.swap_remove(index);
        match received {
            Some(Ok(delivery)) => Ok(RabbitMqLane::new(
                Arc::clone(&self.shared),
                Arc::clone(&self.names),
                partition,
                consuming,
                delivery,
            )),
            ended => {
                // What broke for one mostly broke for all; they are reported once.
                self.waiting.retain(|(_, waiting)| waiting.is_connected());
                let queue = self.names.partition(partition);
                Err(match ended {
                    Some(Err(error)) => {
                        let failed = failed(format_args!("receiving from {queue}"), error);
                        // Whatever it was, it worked before; what stays wrong shows on starting.
                        TransportError::transient(format!(
                            "RabbitMQ no longer delivers from {queue}"
                        ))
                        .with_source(failed)
                    }
                    _ => TransportError::transient(format!(
                        "RabbitMQ ended delivering from {queue}; the queue may be deleted"
                    )),
                })
            }
        }
    }

    fn poll_waiting(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<(usize, Option<lapin::Result<AmqpDelivery>>)> {
        let count = self.waiting.len();
        // Whoever is asked first is served first, so it is not always the same.
        let offset = fastrand::usize(..count.max(1));
        for index in (0..count).map(|index| (index + offset) % count) {
            let Some(stream) = self.waiting[index].1.stream_mut() else {
                continue;
            };
            if let Poll::Ready(received) = Pin::new(stream).poll_next(context) {
                return Poll::Ready((index, received));
            }
        }
        Poll::Pending
    }
}

#[async_trait]
impl LaneSource for RabbitMqLanes {
    async fn accept_next(&mut self) -> Result<Option<Box<dyn Lane>>, TransportError> {
        let stop = self.stop.clone();
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => Ok(None),
            lane = self.next() => lane.map(|lane| Some(Box::new(lane) as _)),
        };
        if stop.is_cancelled() {
            for (_, waiting) in self.waiting.drain(..) {
                waiting.close().await;
            }
        }
        accepted
    }

    fn stopper(&self) -> Arc<dyn Stopper> {
        Arc::new(RabbitMqStopper(self.stop.clone()))
    }
}

impl Stopper for RabbitMqStopper {
    fn stop(&self) {
        self.0.cancel();
    }
}
