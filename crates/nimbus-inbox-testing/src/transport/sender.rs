use std::sync::Arc;

use async_trait::async_trait;
use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{
    Address, Envelope, ScheduledId, Sender, TransportError, TransportErrorKind,
};

use super::BrokerOperation;
use super::call::Connection;

/// Sends to one address.
#[derive(Debug)]
pub(super) struct InMemorySender {
    connection: Connection,
    address: Address,
}

impl InMemorySender {
    pub(super) fn new(connection: Connection, address: Address) -> Self {
        Self {
            connection,
            address,
        }
    }

    fn demand(&self, capable: bool, what: &str) -> Result<(), TransportError> {
        if capable {
            return Ok(());
        }
        Err(TransportError::new(
            TransportErrorKind::Unsupported,
            format!("this in-memory broker plays one that can't {what}; see its options"),
        ))
    }
}

#[async_trait]
impl Sender for InMemorySender {
    /// A batch is accepted whole or not at all.
    async fn send(&self, messages: Vec<Envelope>) -> Result<(), TransportError> {
        let messages: Vec<_> = messages.into_iter().map(Arc::new).collect();
        let call = self
            .connection
            .call(BrokerOperation::Send, &self.address, None, messages.clone())
            .await?;
        call.run(|state, now| {
            for message in &messages {
                state.route(&self.address, message, now)?;
            }
            for message in messages {
                for queue in state.route(&self.address, &message, now)? {
                    queue.push(Arc::clone(&message), now);
                }
            }
            Ok(())
        })
        .await
    }

    async fn schedule(
        &self,
        message: Envelope,
        due: Timestamp,
    ) -> Result<ScheduledId, TransportError> {
        let capabilities = self.connection.broker.shared.options.capabilities;
        self.demand(capabilities.scheduled_send, "schedule")?;
        let message = Arc::new(message);
        let call = self
            .connection
            .call(
                BrokerOperation::Schedule,
                &self.address,
                None,
                vec![Arc::clone(&message)],
            )
            .await?;
        call.run(|state, now| {
            let number = state.next_schedule();
            for queue in state.route(&self.address, &message, now)? {
                queue.schedule(number, Arc::clone(&message), due);
            }
            Ok(ScheduledId(number.to_string()))
        })
        .await
    }

    async fn cancel_scheduled(&self, id: &ScheduledId) -> Result<bool, TransportError> {
        let capabilities = self.connection.broker.shared.options.capabilities;
        self.demand(capabilities.cancel_scheduled, "cancel a scheduled message")?;
        let call = self
            .connection
            .call(
                BrokerOperation::CancelScheduled,
                &self.address,
                None,
                Vec::new(),
            )
            .await?;
        call.run(|state, now| {
            // An id that is no number was never given out.
            let number = id.0.parse().ok();
            // Every queue that a topic reached holds one; all of them go.
            let cancelled = state
                .queues(now)
                .filter_map(|queue| number.filter(|number| queue.cancel_scheduled(*number)))
                .count();
            Ok(cancelled > 0)
        })
        .await
    }
}
