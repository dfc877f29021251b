use super::duplicate::Identity;
use super::{Interruption, Received, Services};
use crate::responder::Outcome;

impl Services {
    /// Records a success and reports it, in that order (INB-06).
    pub(super) async fn record_and_resolve(
        &self,
        message: &Received,
        identity: Identity,
    ) -> Result<(), Interruption> {
        self.record(identity).await?;
        self.tally.handled();
        self.responder
            .send(message.about(), Outcome::Resolved)
            .await
    }
}
