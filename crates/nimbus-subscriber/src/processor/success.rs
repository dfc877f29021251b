use super::duplicate::Identity;
use super::{Interruption, Received, Services};
use crate::responder::Outcome;

impl Services {
    /// Records a handler's success and tells observers of it.
    pub(super) async fn record_success(
        &self,
        message: &Received,
        identity: Identity,
    ) -> Result<(), Interruption> {
        self.record(identity).await?;
        self.tally.handled();
        self.tell_completed(message).await;
        Ok(())
    }

    /// Records a success and reports it, in that order (INB-06).
    pub(super) async fn record_and_resolve(
        &self,
        message: &Received,
        identity: Identity,
    ) -> Result<(), Interruption> {
        self.record_success(message, identity).await?;
        self.responder
            .send(message.about(), Outcome::Resolved)
            .await
    }
}
