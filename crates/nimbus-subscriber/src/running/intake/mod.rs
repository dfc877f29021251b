//! Whether messages may be taken (SUB-30).

mod pass;
mod run;
mod store;
mod trial;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use nimbus_inbox_core::{Clock, EndpointId, Inbox};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::health::{Health, Phase};
use crate::circuit_breaker::{Circuit, Gate};
use store::Store;
use trial::Trial;

pub(crate) use run::Run;

pub(super) use pass::LanePass;

/// Holds intake back while the inbox store fails, or while handlers do and there is a circuit
/// breaker (SUB-30, SUB-23).
///
/// Receiving meanwhile would only burn the messages' delivery counts, and dead-letter them in the
/// end for an outage that is not theirs.
#[derive(Debug, Clone)]
pub(crate) struct Intake(Arc<State>);

#[derive(Debug)]
struct State {
    endpoint: EndpointId,
    store: Store,
    circuit: Option<Circuit>,
    clock: Arc<dyn Clock>,
    health: Health,
    /// While the circuit is half-open a lane may receive if nobody has a trial: neither another
    /// lane, nor a message that is tried.
    trials: AtomicUsize,
    /// Told when the circuit or the trial changes.
    changed: watch::Sender<()>,
}

impl Intake {
    pub(super) fn new(
        endpoint: EndpointId,
        inbox: Option<Inbox>,
        circuit: Option<Circuit>,
        clock: Arc<dyn Clock>,
        health: Health,
    ) -> Self {
        Self(Arc::new(State {
            endpoint,
            store: Store::new(inbox),
            circuit,
            clock,
            health,
            trials: AtomicUsize::new(0),
            changed: watch::Sender::new(()),
        }))
    }

    /// Stops intake until the store serves again.
    pub(super) fn close(&self) {
        self.0.store.close();
        self.show();
    }

    /// A message was recorded: whatever was wrong with the store is over.
    pub(crate) fn recorded(&self) {
        self.0.store.recorded();
    }

    /// Resolves at once while a lane may be accepted; else once the store serves and the circuit
    /// lets one through, or the subscriber stops.
    pub(super) async fn passed(&self, stopping: &CancellationToken) {
        while !stopping.is_cancelled() {
            if self.0.store.is_closed() {
                self.0.store.serves(stopping).await;
                self.show();
                continue;
            }
            // Before the circuit is asked, so that no change is missed.
            let mut changed = self.0.changed.subscribe();
            let wait = match self.gate() {
                Gate::Closed => return,
                Gate::HalfOpen if self.0.trials.load(Ordering::SeqCst) == 0 => {
                    self.show();
                    return;
                }
                Gate::HalfOpen => Duration::MAX,
                Gate::Open(wait) => wait,
            };
            tokio::select! {
                biased;
                () = stopping.cancelled() => {}
                _ = changed.changed() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    fn gate(&self) -> Gate {
        let circuit = self.0.circuit.as_ref();
        circuit.map_or(Gate::Closed, |circuit| circuit.gate(self.0.clock.now()))
    }

    /// Says in the subscriber's health whether messages are taken.
    pub(super) fn show(&self) {
        let phase = if self.0.store.is_closed() {
            Phase::Waiting("the inbox store does not answer; receiving is paused")
        } else {
            match self.gate() {
                Gate::Closed => Phase::Receiving,
                Gate::HalfOpen => Phase::Waiting(
                    "handlers failed too often; the circuit breaker lets one message at a time \
                     through to see whether they succeed again",
                ),
                Gate::Open(_) => Phase::Waiting(
                    "handlers fail too often; the circuit breaker is open and receiving is paused",
                ),
            }
        };
        self.0.health.enter(phase);
    }
}
