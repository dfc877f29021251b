use std::sync::Arc;

use async_trait::async_trait;
use nimbus_messaging::{Receipt, Settlement, Settler, TransportError};

use super::Hold;

/// The right to settle a delivery, used after the hold.
pub(super) struct HoldingSettler {
    pub(super) message_id: Option<String>,
    pub(super) inner: Receipt,
    pub(super) hold: Arc<Hold>,
}

#[async_trait]
impl Settler for HoldingSettler {
    async fn settle(self: Box<Self>, settlement: Settlement) -> Result<(), TransportError> {
        let Self {
            message_id,
            inner,
            hold,
        } = *self;
        hold.before_settlement(message_id.as_deref()).await;
        inner.settle(settlement).await
    }
}
