//! A transport that keeps the contract but for one flaw.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nimbus_inbox_core::{EndpointId, Timestamp};
use nimbus_inbox_testing::InMemoryTransport;
use nimbus_messaging::{
    Address, Cas, Delivery, Envelope, Lane, LaneLock, LaneSource, ParkedCopy, ParkedRef,
    Properties, Receipt, ScheduledId, Sender, SessionId, SessionState, SessionStore,
    SessionStoreCapabilities, Settlement, SettlementTasks, Settler, StateVersion, Stopper,
    Transport, TransportCapabilities, TransportError, TransportErrorKind, VersionedState,
};
use tokio::task::yield_now;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Flaw {
    None,
    SettlesLate,
    IgnoresDelays,
    AbandonsToTheTail,
    CompletesOnReceiving,
    MakesUpIds,
    KeepsTextOnly,
    SwallowsUnroutable,
    IgnoresDueTimes,
    IgnoresStops,
    ForgetsUnknownMembers,
    WritesOverConflicts,
    UnparksByKeyAlone,
    CountsBeforeParking,
    FoldsSessions,
    CutsDescriptions,
    DefersForNow,
    CountsFromOne,
    SwallowsCuts,
}

#[derive(Debug, Clone)]
pub(crate) struct Flawed {
    pub(crate) inner: InMemoryTransport,
    pub(crate) flaw: Flaw,
}

#[async_trait]
impl Transport for Flawed {
    fn name(&self) -> &'static str {
        "flawed"
    }

    fn capabilities(&self) -> TransportCapabilities {
        self.inner.capabilities()
    }

    async fn verify(&self, endpoint: &EndpointId) -> Result<(), TransportError> {
        self.inner.verify(endpoint).await
    }

    async fn sender(&self, address: &Address) -> Result<Arc<dyn Sender>, TransportError> {
        let sender = FlawedSender {
            inner: self.inner.sender(address).await?,
            flaw: self.flaw,
        };
        Ok(Arc::new(sender))
    }

    async fn lanes(&self, endpoint: &EndpointId) -> Result<Box<dyn LaneSource>, TransportError> {
        let address = Address::new(endpoint.as_str());
        let source = FlawedSource {
            inner: self.inner.lanes(endpoint).await?,
            sender: self.inner.sender(&address).await?,
            flaw: self.flaw,
        };
        Ok(Box::new(source))
    }
}

#[derive(Debug)]
struct FlawedSender {
    inner: Arc<dyn Sender>,
    flaw: Flaw,
}

#[async_trait]
impl Sender for FlawedSender {
    async fn send(&self, mut messages: Vec<Envelope>) -> Result<(), TransportError> {
        for message in &mut messages {
            match self.flaw {
                Flaw::MakesUpIds => {
                    message.message_id.get_or_insert_default();
                }
                Flaw::FoldsSessions => {
                    message.session_id = message.session_id.take().map(|id| id.to_lowercase());
                }
                Flaw::KeepsTextOnly => {
                    let mut texts = Properties::default();
                    for (name, value) in message.properties.iter() {
                        texts.set(name, value.to_text().into_owned());
                    }
                    message.properties = texts;
                }
                _ => {}
            }
        }
        match self.inner.send(messages).await {
            Err(error)
                if self.flaw == Flaw::SwallowsUnroutable
                    && error.kind() == TransportErrorKind::Unroutable =>
            {
                Ok(())
            }
            Err(error) if self.flaw == Flaw::SwallowsCuts && error.is_transient() => Ok(()),
            sent => sent,
        }
    }

    async fn schedule(
        &self,
        message: Envelope,
        due: Timestamp,
    ) -> Result<ScheduledId, TransportError> {
        let due = match self.flaw {
            Flaw::IgnoresDueTimes => Timestamp::UNIX_EPOCH,
            _ => due,
        };
        self.inner.schedule(message, due).await
    }

    async fn cancel_scheduled(&self, id: &ScheduledId) -> Result<bool, TransportError> {
        self.inner.cancel_scheduled(id).await
    }
}

#[derive(Debug)]
struct FlawedSource {
    inner: Box<dyn LaneSource>,
    sender: Arc<dyn Sender>,
    flaw: Flaw,
}

#[async_trait]
impl LaneSource for FlawedSource {
    async fn accept_next(&mut self) -> Result<Option<Box<dyn Lane>>, TransportError> {
        let lane = self.inner.accept_next().await?;
        Ok(lane.map(|inner| {
            let sender = Arc::clone(&self.sender);
            let flaw = self.flaw;
            Box::new(FlawedLane {
                inner,
                sender,
                flaw,
            }) as Box<dyn Lane>
        }))
    }

    fn stopper(&self) -> Arc<dyn Stopper> {
        match self.flaw {
            Flaw::IgnoresStops => Arc::new(Deaf),
            _ => self.inner.stopper(),
        }
    }
}

#[derive(Debug)]
struct Deaf;

impl Stopper for Deaf {
    fn stop(&self) {}
}

#[derive(Debug)]
struct FlawedLane {
    inner: Box<dyn Lane>,
    sender: Arc<dyn Sender>,
    flaw: Flaw,
}

#[async_trait]
impl Lane for FlawedLane {
    async fn receive(&mut self, wait: Duration) -> Result<Option<Delivery>, TransportError> {
        let Some(mut delivery) = self.inner.receive(wait).await? else {
            return Ok(None);
        };
        if self.flaw == Flaw::CountsFromOne {
            delivery.delivery_count = 1;
        }
        let receipt = match self.flaw {
            Flaw::CompletesOnReceiving => {
                delivery.receipt.complete().await?;
                yield_now().await;
                None
            }
            _ => Some(delivery.receipt),
        };
        let settler = FlawedSettler {
            receipt,
            envelope: delivery.envelope.clone(),
            sender: Arc::clone(&self.sender),
            flaw: self.flaw,
        };
        let tasks = SettlementTasks::new(Duration::from_secs(10));
        delivery.receipt = Receipt::new(settler, &tasks);
        Ok(Some(delivery))
    }

    async fn receive_deferred(
        &mut self,
        session: &SessionId,
        sequence_number: i64,
    ) -> Result<Option<Delivery>, TransportError> {
        self.inner.receive_deferred(session, sequence_number).await
    }

    fn lock(&self) -> Arc<dyn LaneLock> {
        self.inner.lock()
    }

    fn sessions(&self) -> Option<Arc<dyn SessionStore>> {
        let inner = self.inner.sessions()?;
        let flaw = self.flaw;
        Some(Arc::new(FlawedSessions { inner, flaw }))
    }

    async fn release(self: Box<Self>) -> Result<(), TransportError> {
        self.inner.release().await
    }
}

#[derive(Debug)]
struct FlawedSettler {
    /// Gone when the message was completed before anyone settled it.
    receipt: Option<Receipt>,
    envelope: Envelope,
    sender: Arc<dyn Sender>,
    flaw: Flaw,
}

#[async_trait]
impl Settler for FlawedSettler {
    async fn settle(self: Box<Self>, settlement: Settlement) -> Result<(), TransportError> {
        let Some(receipt) = self.receipt else {
            return Ok(());
        };
        match (self.flaw, settlement) {
            (Flaw::IgnoresDelays, Settlement::Abandon { .. }) => {
                receipt.abandon(Duration::ZERO).await
            }
            (Flaw::AbandonsToTheTail, Settlement::Abandon { .. }) => {
                self.sender.send(vec![self.envelope]).await?;
                receipt.complete().await
            }
            (Flaw::DefersForNow, Settlement::Defer) => receipt.abandon(Duration::ZERO).await,
            (
                Flaw::CutsDescriptions,
                Settlement::DeadLetter {
                    reason,
                    description,
                },
            ) => {
                let description = description.chars().take(1_000).collect();
                let cut = Settlement::DeadLetter {
                    reason,
                    description,
                };
                receipt.settle(cut).await
            }
            (Flaw::SettlesLate, settlement) => match receipt.settle(settlement).await {
                Err(error) if error.kind() == TransportErrorKind::LockLost => Ok(()),
                settled => settled,
            },
            (_, settlement) => receipt.settle(settlement).await,
        }
    }
}

#[derive(Debug)]
struct FlawedSessions {
    inner: Arc<dyn SessionStore>,
    flaw: Flaw,
}

#[async_trait]
impl SessionStore for FlawedSessions {
    fn capabilities(&self) -> SessionStoreCapabilities {
        SessionStoreCapabilities {
            atomic: self.flaw != Flaw::CountsBeforeParking,
        }
    }

    async fn fence(&self, session: &SessionId) -> Result<VersionedState, TransportError> {
        self.inner.fence(session).await
    }

    async fn read(&self, session: &SessionId) -> Result<VersionedState, TransportError> {
        self.inner.read(session).await
    }

    async fn write(
        &self,
        session: &SessionId,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let mut state = state.clone();
        if self.flaw == Flaw::ForgetsUnknownMembers {
            state.unknown.clear();
        }
        let written = self.inner.write(session, &state, expected).await?;
        if self.flaw == Flaw::WritesOverConflicts && written == Cas::Conflict {
            let current = self.inner.read(session).await?.version;
            return self.inner.write(session, &state, current).await;
        }
        Ok(written)
    }

    async fn park(
        &self,
        session: &SessionId,
        copy: &ParkedCopy,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        if self.flaw != Flaw::CountsBeforeParking {
            return self.inner.park(session, copy, state, expected).await;
        }
        let Cas::Written(version) = self.inner.write(session, state, expected).await? else {
            return Ok(Cas::Conflict);
        };
        yield_now().await;
        self.inner.park(session, copy, state, version).await
    }

    async fn parked(
        &self,
        session: &SessionId,
        limit: NonZeroU32,
    ) -> Result<Vec<ParkedCopy>, TransportError> {
        self.inner.parked(session, limit).await
    }

    async fn unpark(
        &self,
        session: &SessionId,
        copy: &ParkedRef,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let mut copy = copy.clone();
        if self.flaw == Flaw::UnparksByKeyAlone {
            let parked = self.inner.parked(session, NonZeroU32::MAX).await?;
            let same = |kept: &ParkedCopy| {
                kept.reference.sequence == copy.sequence && kept.reference.id == copy.id
            };
            if let Some(kept) = parked.into_iter().find(same) {
                copy = kept.reference;
            }
        }
        self.inner.unpark(session, &copy, state, expected).await
    }
}
