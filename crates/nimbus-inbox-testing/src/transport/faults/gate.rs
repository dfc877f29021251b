use async_trait::async_trait;
use nimbus_messaging::TransportError;
use tokio::sync::{mpsc, oneshot};

use super::when::Condition;
use super::{BrokerCall, BrokerHook, BrokerPoint, BrokerWhen};

/// Where calls to a broker stand until the test lets them go on.
///
/// Dropping it opens the gate for good: calls that arrived and those to come go on.
#[derive(Debug)]
#[must_use = "a dropped gate holds nothing"]
pub struct BrokerGate {
    arrivals: mpsc::UnboundedReceiver<HeldBrokerCall>,
}

/// A call that stands at a gate. It goes on when this is dropped or [released](Self::release).
#[derive(Debug)]
#[must_use = "a dropped call is released"]
pub struct HeldBrokerCall {
    call: BrokerCall,
    verdict: oneshot::Sender<Result<(), TransportError>>,
}

impl BrokerGate {
    /// Waits until the next call stands at the gate.
    ///
    /// # Panics
    ///
    /// When the broker is gone or its hooks were removed, since no call can arrive any more.
    ///
    /// # Cancel safety
    ///
    /// A dropped wait loses no call.
    pub async fn reached(&mut self) -> HeldBrokerCall {
        self.arrivals
            .recv()
            .await
            .expect("the gate was removed while a test waited for a call to reach it")
    }
}

impl HeldBrokerCall {
    /// The call.
    #[must_use]
    pub fn call(&self) -> &BrokerCall {
        &self.call
    }

    /// `true` once the caller dropped the call while it was held.
    #[must_use]
    pub fn is_dropped(&self) -> bool {
        self.verdict.is_closed()
    }

    /// Lets the call go on.
    pub fn release(self) {
        self.decide(Ok(()));
    }

    /// Lets the call answer with this error instead of going on.
    pub fn fail(self, error: TransportError) {
        self.decide(Err(error));
    }

    fn decide(self, verdict: Result<(), TransportError>) {
        // A caller that dropped the call hears no verdict.
        let _ = self.verdict.send(verdict);
    }
}

/// The broker's side of a gate.
#[derive(Debug)]
pub(in crate::transport) struct Barrier {
    condition: Condition,
    point: BrokerPoint,
    arrivals: mpsc::UnboundedSender<HeldBrokerCall>,
}

impl Barrier {
    pub(in crate::transport) fn new(when: BrokerWhen, point: BrokerPoint) -> (Self, BrokerGate) {
        let (sender, arrivals) = mpsc::unbounded_channel();
        let barrier = Self {
            condition: Condition::new(when),
            point,
            arrivals: sender,
        };
        (barrier, BrokerGate { arrivals })
    }
}

#[async_trait]
impl BrokerHook for Barrier {
    async fn reach(&self, point: BrokerPoint, call: &BrokerCall) -> Result<(), TransportError> {
        if point != self.point || !self.condition.is_met(call) {
            return Ok(());
        }
        let (verdict, decided) = oneshot::channel();
        // Where the test dropped the gate or the call, the sender of the verdict is gone, and the
        // call goes on.
        let _ = self.arrivals.send(HeldBrokerCall {
            call: call.clone(),
            verdict,
        });
        decided.await.unwrap_or(Ok(()))
    }
}
