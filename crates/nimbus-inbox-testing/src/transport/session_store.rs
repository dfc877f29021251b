use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use nimbus_messaging::{
    Address, Cas, Envelope, ParkedCopy, ParkedRef, SessionId, SessionState, SessionStore,
    SessionStoreCapabilities, StateVersion, TransportError, VersionedState,
};

use super::call::{Call, Connection};
use super::state::SessionRecord;
use super::{BrokerOperation, BrokerPoint};

/// The sessions of one endpoint, as one process reaches them.
#[derive(Debug)]
pub(super) struct InMemorySessions {
    connection: Connection,
    address: Address,
}

impl InMemorySessions {
    pub(super) fn new(connection: Connection, address: Address) -> Self {
        Self {
            connection,
            address,
        }
    }

    async fn call(
        &self,
        operation: BrokerOperation,
        session: &SessionId,
        messages: Vec<Arc<Envelope>>,
    ) -> Result<Call, TransportError> {
        self.connection
            .call(operation, &self.address, Some(session), messages)
            .await
    }

    fn step<T>(
        &self,
        call: &mut Call,
        session: &SessionId,
        change: impl FnOnce(&mut SessionRecord) -> T,
    ) -> Result<T, TransportError> {
        call.step(|state, now| {
            let queue = state.queue(&self.address, now)?;
            Ok(change(queue.session(session)))
        })
    }

    fn is_atomic(&self) -> bool {
        self.connection.broker.shared.options.atomic_sessions
    }
}

#[async_trait]
impl SessionStore for InMemorySessions {
    fn capabilities(&self) -> SessionStoreCapabilities {
        SessionStoreCapabilities {
            atomic: self.is_atomic(),
        }
    }

    async fn fence(&self, session: &SessionId) -> Result<VersionedState, TransportError> {
        let call = self
            .call(BrokerOperation::Fence, session, Vec::new())
            .await?;
        call.run(|state, now| state.queue(&self.address, now)?.session(session).fence())
            .await
    }

    async fn read(&self, session: &SessionId) -> Result<VersionedState, TransportError> {
        let call = self
            .call(BrokerOperation::ReadState, session, Vec::new())
            .await?;
        call.run(|state, now| state.queue(&self.address, now)?.session(session).read())
            .await
    }

    async fn write(
        &self,
        session: &SessionId,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let call = self
            .call(BrokerOperation::WriteState, session, Vec::new())
            .await?;
        call.run(|broker, now| {
            let record = broker.queue(&self.address, now)?.session(session);
            Ok(record.write(state, expected))
        })
        .await
    }

    async fn park(
        &self,
        session: &SessionId,
        copy: &ParkedCopy,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let messages = vec![Arc::new(copy.envelope.clone())];
        let mut call = self.call(BrokerOperation::Park, session, messages).await?;
        call.reach(BrokerPoint::Before).await?;
        if !self.is_atomic() {
            self.step(&mut call, session, |record| record.keep_copy(copy))?;
            call.reach(BrokerPoint::Between).await?;
        }
        let cas = self.step(&mut call, session, |record| {
            let cas = record.write(state, expected);
            if self.is_atomic() && matches!(cas, Cas::Written(_)) {
                record.keep_copy(copy);
            }
            cas
        })?;
        call.answered().await?;
        Ok(cas)
    }

    async fn parked(
        &self,
        session: &SessionId,
        limit: NonZeroU32,
    ) -> Result<Vec<ParkedCopy>, TransportError> {
        let call = self
            .call(BrokerOperation::ReadParked, session, Vec::new())
            .await?;
        call.run(|state, now| {
            let record = state.queue(&self.address, now)?.session(session);
            Ok(record.parked(limit))
        })
        .await
    }

    async fn unpark(
        &self,
        session: &SessionId,
        copy: &ParkedRef,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let mut call = self
            .call(BrokerOperation::Unpark, session, Vec::new())
            .await?;
        call.reach(BrokerPoint::Before).await?;
        let cas = self.step(&mut call, session, |record| {
            let cas = record.write(state, expected);
            if self.is_atomic() && matches!(cas, Cas::Written(_)) {
                record.remove_copy(copy);
            }
            cas
        })?;
        if !self.is_atomic() && matches!(cas, Cas::Written(_)) {
            call.reach(BrokerPoint::Between).await?;
            self.step(&mut call, session, |record| record.remove_copy(copy))?;
        }
        call.answered().await?;
        Ok(cas)
    }
}
