//! Decorators that keep one message at a chosen point, so that a kill finds it there.

mod lane;
mod settler;
mod store;
mod transport;

pub(super) use store::HoldingStore;
pub(super) use transport::HoldingTransport;

use crate::plan::Kill;
use crate::signal::Signal;

/// The point at which one message waits for the kill.
#[derive(Debug)]
pub(super) struct Hold(Option<Kill>);

impl Hold {
    pub(super) fn new(kill: Option<Kill>) -> Self {
        Self(kill)
    }

    /// Returns at once for every message but the one to hold.
    async fn before_record(&self, message_ids: impl Iterator<Item = &str> + Send) {
        if let Some(kill @ Kill::BeforeRecord(held)) = &self.0
            && message_ids.into_iter().any(|id| id == held)
        {
            wait_for_kill(kill).await;
        }
    }

    /// Returns at once for every message but the one to hold.
    async fn before_settlement(&self, message_id: Option<&str>) {
        if let Some(kill @ Kill::BeforeSettlement(held)) = &self.0
            && message_id == Some(held)
        {
            wait_for_kill(kill).await;
        }
    }
}

async fn wait_for_kill(kill: &Kill) {
    tracing::info!(?kill, "holding a message until this process is killed");
    Signal::Held(kill.clone()).send();
    std::future::pending::<()>().await;
}
