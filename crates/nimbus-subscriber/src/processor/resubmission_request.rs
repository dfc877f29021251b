use nimbus_inbox_core::DuplicateWhen;

use super::attempt::{Attempt, SetAside};
use super::duplicate::Duplicate;
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
        let identity = self.identify(message, DuplicateWhen::OwnRecorded);
        if let Some(duplicate) = self.find_duplicate(&identity).await? {
            self.release_from_event(message, session).await?;
            return self.report_duplicate(message, &duplicate).await;
        }
        // Before the handler, whose own transaction may record it.
        let source = self.resolved_source(message, session.as_deref_mut()).await;
        let identity = self.resolving(identity, source);
        match self.attempt(message, &identity, interrupts).await? {
            Attempt::Succeeded(record) => {
                self.record_success(message, identity, record).await?;
                self.release_from_event(message, session).await?;
                self.responder
                    .send(message.about(), Outcome::Resolved)
                    .await
            }
            Attempt::Duplicate => {
                self.release_from_event(message, session).await?;
                self.report_duplicate(message, &Duplicate::Claimed).await
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

    /// The source id of the event that blocks the session, if a success resolves it (INB-17). Best
    /// effort: what the operator asked for must not fail for it.
    async fn resolved_source(
        &self,
        message: &Received,
        session: Option<&mut HeldSession>,
    ) -> Option<String> {
        let session = session?;
        let event_id = message.headers.event_id.as_ref();
        match session.state().await {
            Ok(state) if state.is_blocked_by(event_id) => state.blocked_by_message_id.clone(),
            Ok(_) => None,
            Err(_) => {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    session = %session.id(),
                    event_id = event_id.map(|id| id.as_str()),
                    "which message a resubmission resolves can't be read; if it succeeds, only the \
                     resubmission is recorded, and a late delivery of the original would run again"
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
