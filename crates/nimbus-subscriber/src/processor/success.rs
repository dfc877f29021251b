use super::duplicate::Identity;
use super::{Interruption, Received, Services};
use crate::responder::Outcome;

/// Whether a success has yet to be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Record {
    Due,
    /// In the handler's own transaction (SUB-39).
    Committed,
}

impl Services {
    /// Records a handler's success and tells observers of it.
    pub(super) async fn record_success(
        &self,
        message: &Received,
        identity: Identity,
        record: Record,
    ) -> Result<(), Interruption> {
        self.record(identity, record).await?;
        self.tally.handled();
        self.tell_completed(message).await;
        Ok(())
    }

    /// Records a success and reports it, in that order (INB-06).
    pub(super) async fn record_and_resolve(
        &self,
        message: &Received,
        identity: Identity,
        record: Record,
    ) -> Result<(), Interruption> {
        self.record_success(message, identity, record).await?;
        self.responder
            .send(message.about(), Outcome::Resolved)
            .await
    }
}
