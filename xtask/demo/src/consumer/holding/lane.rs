use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nimbus_messaging::{
    Delivery, Headers, Lane, LaneLock, LaneSource, Receipt, SessionId, SessionStore,
    SettlementTasks, Stopper, TransportError,
};

use super::Hold;
use super::settler::HoldingSettler;
use crate::plan::Publication;
use crate::signal::{Delivered, Signal};

#[derive(Debug)]
pub(super) struct HoldingLanes {
    inner: Box<dyn LaneSource>,
    hold: Arc<Hold>,
    settlements: SettlementTasks,
}

#[derive(Debug)]
struct HoldingLane {
    inner: Box<dyn Lane>,
    hold: Arc<Hold>,
    settlements: SettlementTasks,
}

impl HoldingLanes {
    pub(super) fn new(
        inner: Box<dyn LaneSource>,
        hold: Arc<Hold>,
        settlements: SettlementTasks,
    ) -> Self {
        Self {
            inner,
            hold,
            settlements,
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl LaneSource for HoldingLanes {
    async fn accept_next(&mut self) -> Result<Option<Box<dyn Lane>>, TransportError> {
        let accepted = self.inner.accept_next().await?;
        Ok(accepted.map(|inner| {
            let lane: Box<dyn Lane> = Box::new(HoldingLane {
                inner,
                hold: Arc::clone(&self.hold),
                settlements: self.settlements.clone(),
            });
            lane
        }))
    }

    fn stopper(&self) -> Arc<dyn Stopper> {
        self.inner.stopper()
    }
}

impl HoldingLane {
    fn deliver(&self, delivery: Delivery) -> Delivery {
        tell(&delivery);
        let settler = HoldingSettler {
            message_id: delivery.envelope.message_id.clone(),
            inner: delivery.receipt,
            hold: Arc::clone(&self.hold),
        };
        Delivery {
            receipt: Receipt::new(settler, &self.settlements),
            ..delivery
        }
    }
}

#[async_trait]
#[deny(clippy::missing_trait_methods)]
impl Lane for HoldingLane {
    async fn receive(&mut self, wait: Duration) -> Result<Option<Delivery>, TransportError> {
        let received = self.inner.receive(wait).await?;
        Ok(received.map(|delivery| self.deliver(delivery)))
    }

    async fn receive_deferred(
        &mut self,
        session: &SessionId,
        sequence_number: i64,
    ) -> Result<Option<Delivery>, TransportError> {
        let received = self
            .inner
            .receive_deferred(session, sequence_number)
            .await?;
        Ok(received.map(|delivery| self.deliver(delivery)))
    }

    fn lock(&self) -> Arc<dyn LaneLock> {
        self.inner.lock()
    }

    fn sessions(&self) -> Option<Arc<dyn SessionStore>> {
        self.inner.sessions()
    }

    async fn release(self: Box<Self>) -> Result<(), TransportError> {
        self.inner.release().await
    }
}

fn tell(delivery: &Delivery) {
    let headers = Headers::read(&delivery.envelope).unwrap_or_default();
    Signal::Delivered(Delivered {
        publication: headers
            .correlation_id
            .as_deref()
            .and_then(Publication::number_of),
        message_type: headers.message_type.as_str().to_owned(),
        delivery_count: delivery.delivery_count,
    })
    .send();
}
