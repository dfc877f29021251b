use std::time::Duration;

use async_trait::async_trait;
use nimbus_messaging::{TransportError, TransportErrorKind};

use super::when::Condition;
use super::{BrokerCall, BrokerHook, BrokerPoint, BrokerWhen};

/// What happens to a call that meets its condition.
///
/// It strikes when the call arrives, unless [`at`](Self::at) says otherwise.
#[derive(Debug, Clone)]
#[must_use]
pub struct BrokerFault {
    point: BrokerPoint,
    action: Action,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Fail(TransportErrorKind),
    Delay(Duration),
    Hang,
}

impl BrokerFault {
    /// The call fails with an error of this kind.
    pub fn fail(kind: TransportErrorKind) -> Self {
        Self::new(Action::Fail(kind))
    }

    /// The call fails with a transient error and has no effect.
    pub fn transient() -> Self {
        Self::fail(TransportErrorKind::Transient)
    }

    /// The call takes effect, and its caller gets a transient error.
    pub fn answer_lost() -> Self {
        Self::transient().at(BrokerPoint::After)
    }

    /// The call waits on tokio's clock, then goes on.
    pub fn delay(duration: Duration) -> Self {
        Self::new(Action::Delay(duration))
    }

    /// The call never returns.
    pub fn hang() -> Self {
        Self::new(Action::Hang)
    }

    /// Strikes at another point of the call.
    pub fn at(mut self, point: BrokerPoint) -> Self {
        self.point = point;
        self
    }

    fn new(action: Action) -> Self {
        Self {
            point: BrokerPoint::Called,
            action,
        }
    }
}

/// A fault and the calls it strikes.
#[derive(Debug)]
pub(in crate::transport) struct Rule {
    condition: Condition,
    fault: BrokerFault,
}

impl Rule {
    pub(in crate::transport) fn new(when: BrokerWhen, fault: BrokerFault) -> Self {
        Self {
            condition: Condition::new(when),
            fault,
        }
    }
}

#[async_trait]
impl BrokerHook for Rule {
    async fn reach(&self, point: BrokerPoint, call: &BrokerCall) -> Result<(), TransportError> {
        if point != self.fault.point || !self.condition.is_met(call) {
            return Ok(());
        }
        match self.fault.action {
            Action::Fail(kind) => Err(TransportError::new(
                kind,
                format!(
                    "injected fault in {:?} at {}: {kind:?}, {point:?}",
                    call.operation, call.address
                ),
            )),
            Action::Delay(duration) => {
                tokio::time::sleep(duration).await;
                Ok(())
            }
            Action::Hang => std::future::pending().await,
        }
    }
}
