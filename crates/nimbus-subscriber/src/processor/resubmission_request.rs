use nimbus_inbox_core::InboxKey;

use super::attempt::{Attempt, SetAside};
use super::failure::error_content;
use super::only_from::manager_only;
use super::{Interruption, Interrupts, Received, Services};
use crate::handler::Handoff;
use crate::responder::Outcome;
use crate::session::HeldSession;

impl Services {
    /// ResubmissionRequest: an operator has an event handled once more (SUB-12).
    ///
    /// It may be any event, so whose block it is decides only what happens afterwards.
    pub(super) async fn resubmission_request(
        &self,
        message: &mut Received,
        mut session: Option<&mut HeldSession>,
        interrupts: &Interrupts,
    ) -> Result<(), Interruption> {
        manager_only(message)?;
        // A deliberate new attempt stands for itself, whatever it carries (INB-17).
        message.headers.inbox_message_id = None;
        message.read_event()?;
        let message = &*message;
        let identity = self.identify(message);
        if let Some(duplicate) = self.find_duplicate(&identity, false).await? {
            self.release_from_event(message, session).await?;
            return self.report_duplicate(message, &duplicate).await;
        }
        match self.attempt(message, interrupts).await? {
            Attempt::Succeeded => {
                let source = self.resolved_source(message, session.as_deref_mut()).await;
                self.record_success(message, identity.resolving(source))
                    .await?;
                self.release_from_event(message, session).await?;
                self.responder
                    .send(message.about(), Outcome::Resolved)
                    .await
            }
            Attempt::HandedOff(handoff) => self.hand_off(message, session, handoff).await,
            // Neither a new block nor a retry: the operator is told and decides.
            Attempt::Failed { error_type, text } => {
                let error = error_content(&error_type, &text);
                self.report_failure(message, &error, None).await?;
                self.release(session, false).await
            }
            Attempt::SetAside(reason @ SetAside::Discarded { .. }) => {
                self.set_aside(message, reason).await?;
                self.release_from_event(message, session).await
            }
            // Dead-lettered or unsupported, it leaves a block to the operator (SUB-21).
            Attempt::SetAside(reason) => {
                self.release(session, false).await?;
                self.set_aside(message, reason).await
            }
        }
    }

    /// The source id of the event that blocks the session, if this success resolves it (INB-17).
    /// Best effort: the work is done, so a state that can't be read must not undo it.
    async fn resolved_source(
        &self,
        message: &Received,
        session: Option<&mut HeldSession>,
    ) -> Option<InboxKey> {
        let (inbox, session) = (self.inbox.as_ref()?, session?);
        let event_id = message.headers.event_id.as_ref();
        match session.state().await {
            Ok(state) if state.is_blocked_by(event_id) => {
                let source = state.blocked_by_message_id.as_deref();
                source.and_then(|source| inbox.key(Some(source)).ok())
            }
            Ok(_) => None,
            Err(_) => {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    session = %session.id(),
                    event_id = event_id.map(|id| id.as_str()),
                    "which message a resubmission resolves can't be read; only the resubmission is \
                     recorded, and a late delivery of the original would run again"
                );
                None
            }
        }
    }

    /// Blocks the session until the job is settled, unless another event owns the block (SUB-14).
    async fn hand_off(
        &self,
        message: &Received,
        session: Option<&mut HeldSession>,
        handoff: Handoff,
    ) -> Result<(), Interruption> {
        self.report_handoff(message, handoff).await?;
        let Some(session) = session else {
            return Ok(());
        };
        let state = session.state().await?;
        let of_another =
            state.is_blocked() && !state.is_blocked_by(message.headers.event_id.as_ref());
        if of_another {
            return Ok(());
        }
        self.block_for_handoff(message, session).await
    }
}
