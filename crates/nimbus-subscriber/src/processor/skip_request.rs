use super::only_from::manager_only;
use super::{Interruption, Received, Services};
use crate::responder::Outcome;
use crate::session::HeldSession;

impl Services {
    /// SkipRequest: an operator gives an event up (SUB-13).
    pub(super) async fn skip_request(
        &self,
        message: &mut Received,
        session: Option<&mut HeldSession>,
    ) -> Result<(), Interruption> {
        manager_only(message)?;
        // A skip needs no event; one that carries it has it reported.
        message.keep_event();
        let message = &*message;
        self.release_from_event(message, session).await?;
        self.responder
            .send(message.about(), Outcome::Skipped)
            .await?;
        self.tally.skipped();
        Ok(())
    }
}
