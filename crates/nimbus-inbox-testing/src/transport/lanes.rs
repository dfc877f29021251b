use std::sync::Arc;

use async_trait::async_trait;
use nimbus_messaging::{Address, Lane, LaneSource, SettlementTasks, Stopper, TransportError};
use tokio_util::sync::CancellationToken;

use super::call::{Call, Connection, Found};
use super::lane::InMemoryLane;
use super::lock::HeldLine;
use super::{BrokerOperation, BrokerPoint};

/// Hands out the sessions of one endpoint.
#[derive(Debug)]
pub(super) struct InMemoryLanes {
    connection: Connection,
    address: Address,
    settlements: SettlementTasks,
    stop: CancellationToken,
}

impl InMemoryLanes {
    pub(super) fn new(
        connection: Connection,
        address: Address,
        settlements: SettlementTasks,
    ) -> Self {
        Self {
            connection,
            address,
            settlements,
            stop: CancellationToken::new(),
        }
    }

    /// Locks the next line. Dropped, it has locked nothing.
    async fn lock_next(&self) -> Result<(Call, HeldLine), TransportError> {
        let address = &self.address;
        let mut call = self
            .connection
            .call(BrokerOperation::Accept, address, None, Vec::new())
            .await?;
        loop {
            let next = call
                .wait_for(|state, now| {
                    let queue = state.queue(address, now)?;
                    Ok(match queue.acceptable(now) {
                        Some(key) => Found::Now(key),
                        None => Found::NothingUntil(queue.next_change(now)),
                    })
                })
                .await?;
            call.seen.session = next.session().cloned();
            call.reach(BrokerPoint::Before).await?;
            let process = self.connection.process;
            let locked = call.try_step(|state, now, seen| {
                let queue = state.queue(address, now)?;
                Ok(queue.acceptable(now).map(|key| {
                    seen.session = key.session().cloned();
                    let lock = queue.lock(&key, process, now);
                    (key, lock)
                }))
            })?;
            if let Some((key, lock)) = locked {
                let line = HeldLine::new(self.connection.clone(), address.clone(), key, &lock);
                return Ok((call, line));
            }
        }
    }
}

#[async_trait]
impl LaneSource for InMemoryLanes {
    async fn accept_next(&mut self) -> Result<Option<Box<dyn Lane>>, TransportError> {
        let (call, line) = tokio::select! {
            biased;
            () = self.stop.cancelled() => return Ok(None),
            locked = self.lock_next() => locked?,
        };
        // The lane is locked by now: a stop hurries the answer and does not lose the lane.
        tokio::select! {
            biased;
            answered = call.answered() => answered?,
            () = self.stop.cancelled() => {}
        }
        Ok(Some(Box::new(InMemoryLane::new(
            line,
            self.settlements.clone(),
        ))))
    }

    fn stopper(&self) -> Arc<dyn Stopper> {
        Arc::new(InMemoryStopper(self.stop.clone()))
    }
}

#[derive(Debug)]
struct InMemoryStopper(CancellationToken);

impl Stopper for InMemoryStopper {
    fn stop(&self) {
        self.0.cancel();
    }
}
