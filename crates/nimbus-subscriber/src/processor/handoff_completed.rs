use super::only_from::manager_only;
use super::{Interruption, Received, Services};
use crate::responder::Outcome;
use crate::session::HeldSession;

impl Services {
    /// HandoffCompletedRequest: the external job has done the event's work (SUB-15). No handler
    /// runs and nothing is recorded (INB-20).
    pub(super) async fn handoff_completed(
        &self,
        message: &mut Received,
        session: Option<&mut HeldSession>,
    ) -> Result<(), Interruption> {
        manager_only(message)?;
        message.keep_event();
        let message = &*message;
        // Whether the block says that it waits for a job is not asked: one that a .NET peer wrote
        // never does.
        self.release_from_event(message, session).await?;
        self.responder
            .send(message.about(), Outcome::Resolved)
            .await?;
        self.tally.handoff_settled();
        Ok(())
    }
}
