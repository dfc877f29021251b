use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nimbus_messaging::{Address, Envelope, LaneLock, TransportError};
use tokio_util::sync::CancellationToken;

use super::BrokerOperation;
use super::call::{Call, Connection};
use super::state::{LineKey, Lock};

/// A line and the lock it is held by.
#[derive(Debug, Clone)]
pub(super) struct HeldLine {
    pub(super) connection: Connection,
    pub(super) address: Address,
    pub(super) key: LineKey,
    pub(super) lock: u64,
    lost: CancellationToken,
    released: CancellationToken,
}

impl HeldLine {
    pub(super) fn new(connection: Connection, address: Address, key: LineKey, lock: &Lock) -> Self {
        Self {
            connection,
            address,
            key,
            lock: lock.id,
            lost: lock.lost.clone(),
            released: lock.released.clone(),
        }
    }

    pub(super) async fn call(
        &self,
        operation: BrokerOperation,
        messages: Vec<Arc<Envelope>>,
    ) -> Result<Call, TransportError> {
        self.connection
            .call(operation, &self.address, self.key.session(), messages)
            .await
    }

    /// Lets the lock run out in time when no call comes by to notice.
    pub(super) async fn watch(self) {
        let broker = &self.connection.broker;
        loop {
            let now = broker.now();
            let left = broker
                .state()
                .queue(&self.address, now)
                .ok()
                .and_then(|queue| queue.lock_left(&self.key, self.lock, now));
            let Some(left) = left else { break };
            tokio::select! {
                biased;
                () = self.released.cancelled() => break,
                () = self.lost.cancelled() => break,
                () = tokio::time::sleep(left) => {}
            }
        }
        broker.shared.changed.notify_waiters();
    }
}

#[async_trait]
impl LaneLock for HeldLine {
    fn duration(&self) -> Duration {
        self.connection.broker.shared.options.lock_duration
    }

    async fn renew(&self) -> Result<(), TransportError> {
        let call = self.call(BrokerOperation::Renew, Vec::new()).await?;
        call.run(|state, now| {
            let queue = state.queue(&self.address, now)?;
            queue.renew(&self.key, self.lock, now)
        })
        .await
    }

    fn lost(&self) -> CancellationToken {
        self.lost.clone()
    }
}
