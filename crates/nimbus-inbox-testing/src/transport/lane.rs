use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nimbus_messaging::{
    Delivery, Lane, LaneLock, Receipt, SessionId, SessionStore, SettlementTasks, TransportError,
    TransportErrorKind,
};
use tokio::time::Instant;

use super::call::Found;
use super::lock::HeldLine;
use super::session_store::InMemorySessions;
use super::settler::InMemorySettler;
use super::state::Taken;
use super::{BrokerOperation, BrokerPoint};

/// A locked session, or a locked message that has none.
///
/// Dropped without a release, the lock runs out by itself, as it does when a process dies.
#[derive(Debug)]
pub(super) struct InMemoryLane {
    line: HeldLine,
    settlements: SettlementTasks,
}

impl InMemoryLane {
    /// Wraps a line that was just locked, and watches the lock.
    pub(super) fn new(line: HeldLine, settlements: SettlementTasks) -> Self {
        tokio::spawn(line.clone().watch());
        Self { line, settlements }
    }

    fn delivery(&self, taken: Taken) -> Delivery {
        let Taken { sequence, message } = taken;
        let envelope = Arc::clone(&message.envelope);
        let settler = InMemorySettler::new(self.line.clone(), sequence, envelope);
        Delivery {
            envelope: Arc::unwrap_or_clone(message.envelope),
            delivery_count: message.delivery_count,
            enqueued_at: Some(message.enqueued_at),
            sequence_number: Some(sequence),
            receipt: Receipt::new(settler, &self.settlements),
        }
    }
}

#[async_trait]
impl Lane for InMemoryLane {
    async fn receive(&mut self, wait: Duration) -> Result<Option<Delivery>, TransportError> {
        // A wait beyond the end of time is one without an end.
        let deadline = Instant::now().checked_add(wait);
        let line = &self.line;
        let mut call = line.call(BrokerOperation::Receive, Vec::new()).await?;
        let taken = loop {
            let ready = call.wait_for(|state, now| {
                let queue = state.queue(&line.address, now)?;
                Ok(if queue.is_ready(&line.key, line.lock, now)? {
                    Found::Now(())
                } else {
                    Found::NothingUntil(queue.next_change(now))
                })
            });
            match deadline {
                None => ready.await?,
                Some(deadline) => match tokio::time::timeout_at(deadline, ready).await {
                    Ok(ready) => ready?,
                    Err(_) => return Ok(None),
                },
            }
            call.reach(BrokerPoint::Before).await?;
            let taken = call.try_step(|state, now, seen| {
                let queue = state.queue(&line.address, now)?;
                let taken = queue.take(&line.key, line.lock, now)?;
                seen.messages = taken.iter().map(Taken::envelope).collect();
                Ok(taken)
            })?;
            if let Some(taken) = taken {
                break taken;
            }
        };
        call.answered().await?;
        Ok(Some(self.delivery(taken)))
    }

    async fn receive_deferred(
        &mut self,
        session: &SessionId,
        sequence_number: i64,
    ) -> Result<Option<Delivery>, TransportError> {
        let line = &self.line;
        if !line.connection.broker.shared.options.capabilities.deferral {
            return Err(TransportError::new(
                TransportErrorKind::Unsupported,
                "this in-memory broker plays one without deferral; see its options",
            ));
        }
        if line.key.session() != Some(session) {
            return Ok(None);
        }
        let mut call = line
            .call(BrokerOperation::ReceiveDeferred, Vec::new())
            .await?;
        call.reach(BrokerPoint::Before).await?;
        let taken = call.try_step(|state, now, seen| {
            let queue = state.queue(&line.address, now)?;
            let taken = queue.take_deferred(&line.key, line.lock, sequence_number)?;
            seen.messages = taken.iter().map(Taken::envelope).collect();
            Ok(taken)
        })?;
        call.answered().await?;
        Ok(taken.map(|taken| self.delivery(taken)))
    }

    fn lock(&self) -> Arc<dyn LaneLock> {
        Arc::new(self.line.clone())
    }

    fn sessions(&self) -> Option<Arc<dyn SessionStore>> {
        let connection = &self.line.connection;
        let capabilities = connection.broker.shared.options.capabilities;
        capabilities.session_store.then(|| {
            let address = self.line.address.clone();
            Arc::new(InMemorySessions::new(connection.clone(), address)) as Arc<dyn SessionStore>
        })
    }

    async fn release(self: Box<Self>) -> Result<(), TransportError> {
        let line = &self.line;
        let call = line.call(BrokerOperation::Release, Vec::new()).await?;
        call.run(|state, now| {
            let queue = state.queue(&line.address, now)?;
            queue.release(&line.key, line.lock)
        })
        .await
    }
}
