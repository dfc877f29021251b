use std::sync::Arc;

use async_trait::async_trait;
use nimbus_messaging::{Envelope, Settlement, Settler, TransportError, TransportErrorKind};

use super::BrokerOperation;
use super::lock::HeldLine;

/// Settles one delivery under the lock it was handed out with.
#[derive(Debug)]
pub(super) struct InMemorySettler {
    line: HeldLine,
    sequence: i64,
    envelope: Arc<Envelope>,
}

impl InMemorySettler {
    pub(super) fn new(line: HeldLine, sequence: i64, envelope: Arc<Envelope>) -> Self {
        Self {
            line,
            sequence,
            envelope,
        }
    }
}

#[async_trait]
impl Settler for InMemorySettler {
    async fn settle(self: Box<Self>, settlement: Settlement) -> Result<(), TransportError> {
        let operation = match &settlement {
            Settlement::Complete => BrokerOperation::Complete,
            Settlement::Abandon { .. } => BrokerOperation::Abandon,
            Settlement::DeadLetter { .. } => BrokerOperation::DeadLetter,
            Settlement::Defer => BrokerOperation::Defer,
        };
        let Self {
            line,
            sequence,
            envelope,
        } = *self;
        let capabilities = line.connection.broker.shared.options.capabilities;
        if settlement == Settlement::Defer && !capabilities.deferral {
            return Err(TransportError::new(
                TransportErrorKind::Unsupported,
                "this in-memory broker plays one without deferral; see its options",
            ));
        }
        let call = line.call(operation, vec![envelope]).await?;
        call.run(|state, now| {
            let queue = state.queue(&line.address, now)?;
            queue.settle(&line.key, line.lock, sequence, settlement, now)
        })
        .await
    }
}
