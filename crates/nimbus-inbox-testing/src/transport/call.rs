use std::sync::Arc;

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Address, Envelope, SessionId, TransportError};

use super::state::State;
use super::{BrokerCall, BrokerOperation, BrokerPoint, InMemoryBroker, LoggedCall, ProcessId};

/// One process's way to the broker.
#[derive(Debug, Clone)]
pub(super) struct Connection {
    pub(super) broker: InMemoryBroker,
    pub(super) process: ProcessId,
}

impl Connection {
    /// A call arrives at the broker.
    pub(super) async fn call(
        &self,
        operation: BrokerOperation,
        address: &Address,
        session: Option<&SessionId>,
        messages: Vec<Arc<Envelope>>,
    ) -> Result<Call, TransportError> {
        let (number, cuts) = {
            let mut state = self.broker.state();
            (state.next_call(), state.cuts)
        };
        let call = Call {
            connection: self.clone(),
            cuts,
            seen: BrokerCall {
                number,
                process: self.process,
                operation,
                address: address.clone(),
                session: session.cloned(),
                messages,
            },
        };
        call.reach(BrokerPoint::Called).await?;
        Ok(call)
    }
}

/// A call on its way through the broker.
#[derive(Debug)]
pub(super) struct Call {
    connection: Connection,
    cuts: u64,
    pub(super) seen: BrokerCall,
}

/// What a waiting call found.
pub(super) enum Found<T> {
    Now(T),
    /// Nothing, and nothing changes by itself before that instant.
    NothingUntil(Option<Timestamp>),
}

impl Call {
    pub(super) async fn reach(&self, point: BrokerPoint) -> Result<(), TransportError> {
        self.connection.broker.reach(point, &self.seen).await
    }

    /// The one step of most calls, with the points around it.
    pub(super) async fn run<T: Send>(
        mut self,
        step: impl FnOnce(&mut State, Timestamp) -> Result<T, TransportError> + Send,
    ) -> Result<T, TransportError> {
        self.reach(BrokerPoint::Before).await?;
        let answer = self.step(step)?;
        self.answered().await?;
        Ok(answer)
    }

    /// Takes effect.
    pub(super) fn step<T>(
        &mut self,
        step: impl FnOnce(&mut State, Timestamp) -> Result<T, TransportError>,
    ) -> Result<T, TransportError> {
        self.try_step(|state, now, _| step(state, now).map(Some))?
            .ok_or_else(|| TransportError::transient("the step had no effect"))
    }

    /// Takes effect where there is something to take; else the call may wait again.
    pub(super) fn try_step<T>(
        &mut self,
        step: impl FnOnce(&mut State, Timestamp, &mut BrokerCall) -> Result<Option<T>, TransportError>,
    ) -> Result<Option<T>, TransportError> {
        let broker = &self.connection.broker;
        let now = broker.now();
        let mut state = broker.state();
        check_connected(&state, self.cuts, self.connection.process)?;
        let answer = step(&mut state, now, &mut self.seen)?;
        if answer.is_some() {
            if broker.shared.options.log {
                state.log.push(LoggedCall {
                    at: now,
                    call: self.seen.clone(),
                });
            }
            drop(state);
            broker.shared.changed.notify_waiters();
        }
        Ok(answer)
    }

    /// The answer goes to the caller.
    pub(super) async fn answered(&self) -> Result<(), TransportError> {
        self.reach(BrokerPoint::After).await?;
        let state = self.connection.broker.state();
        check_connected(&state, self.cuts, self.connection.process)
    }

    /// Looks again after every change until there is something. Has no effect, so it may be
    /// dropped.
    pub(super) async fn wait_for<T: Send>(
        &self,
        mut look: impl FnMut(&mut State, Timestamp) -> Result<Found<T>, TransportError> + Send,
    ) -> Result<T, TransportError> {
        let broker = &self.connection.broker;
        loop {
            // Listening starts before the look, so that no change falls between.
            let mut changed = std::pin::pin!(broker.shared.changed.notified());
            changed.as_mut().enable();
            let now = broker.now();
            let found = {
                let mut state = broker.state();
                check_connected(&state, self.cuts, self.connection.process)?;
                look(&mut state, now)?
            };
            match found {
                Found::Now(found) => return Ok(found),
                Found::NothingUntil(None) => changed.await,
                Found::NothingUntil(Some(instant)) => {
                    let wait = instant.saturating_duration_since(now);
                    // A change or the instant; what it was shows at the next look.
                    let _ = tokio::time::timeout(wait, changed).await;
                }
            }
        }
    }
}

fn check_connected(state: &State, cuts: u64, process: ProcessId) -> Result<(), TransportError> {
    if state.is_dead(process) {
        return Err(TransportError::transient(format!(
            "{process} was killed by the test; nothing it does has an effect any more"
        )));
    }
    if state.cuts != cuts {
        return Err(TransportError::transient(
            "the connection to the in-memory broker was cut; the call may have taken effect",
        ));
    }
    Ok(())
}
