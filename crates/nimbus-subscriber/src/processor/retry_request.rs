use nimbus_messaging::{ErrorContent, Headers, SessionState};

use super::attempt::{Attempt, SetAside};
use super::{Interruption, Interrupts, Received, Services};
use crate::responder::Outcome;
use crate::session::HeldSession;

impl Services {
    /// RetryRequest: a new attempt at the event that blocks its session (SUB-11).
    ///
    /// Without a session nothing is blocked, so the source id alone tells whether the event
    /// completed another way.
    pub(super) async fn retry_request(
        &self,
        message: &mut Received,
        mut session: Option<&mut HeldSession>,
        interrupts: &Interrupts,
    ) -> Result<(), Interruption> {
        message.read_event()?;
        let message = &*message;
        let identity = self.identify(message);
        let duplicate = self.find_duplicate(&identity, session.is_none()).await?;
        let owns_the_block = match session.as_deref_mut() {
            Some(session) => owns_block(session.state().await?, &message.headers),
            None => true,
        };

        if let Some(duplicate) = duplicate {
            self.release(session, owns_the_block).await?;
            return self.report_duplicate(message, &duplicate).await;
        }
        if !owns_the_block {
            // The event was completed another way; after a crash between unblock and drain this is
            // the only trigger left (SUB-16).
            self.release(session, false).await?;
            return self
                .responder
                .send(message.about(), Outcome::Resolved)
                .await;
        }
        match self.attempt(message, interrupts).await? {
            Attempt::Succeeded => {
                self.record(identity).await?;
                self.tally.handled();
                self.release(session, true).await?;
                self.responder
                    .send(message.about(), Outcome::Resolved)
                    .await
            }
            Attempt::HandedOff(handoff) => {
                self.report_handoff(message, handoff).await?;
                match session {
                    Some(session) => session.write(self.blocking_for_handoff(message)).await,
                    None => Ok(()),
                }
            }
            Attempt::Failed { error_type, text } => {
                let error = ErrorContent {
                    error_type: Some(error_type),
                    error_text: Some(text),
                    ..ErrorContent::default()
                };
                self.report_failure(message, &error).await?;
                let block_id = match session {
                    Some(session) => session.state().await?.block_id.clone(),
                    None => None,
                };
                self.schedule_retry(message, block_id.as_deref(), &error)
                    .await
            }
            // A discarded retry gives its session free; any other leaves the block to the operator
            // (SUB-21).
            Attempt::SetAside(reason) => {
                let discarded = matches!(reason, SetAside::Discarded { .. });
                self.set_aside(message, reason).await?;
                self.release(session, discarded).await
            }
        }
    }

    /// Unblocks a session whose block is this message's own, and has it drained if it is then free.
    async fn release(
        &self,
        session: Option<&mut HeldSession>,
        unblock: bool,
    ) -> Result<(), Interruption> {
        let Some(session) = session else {
            return Ok(());
        };
        if unblock {
            session.write(SessionState::unblock).await?;
        }
        self.request_drain(session).await
    }
}

/// Whether the block is the very one that this retry was scheduled for: a late retry must not
/// release a later block of the same event.
fn owns_block(state: &SessionState, retry: &Headers) -> bool {
    if !state.is_blocked() {
        return false;
    }
    match (&retry.block_id, &state.block_id) {
        (Some(retry), Some(block)) => retry == block,
        // One of the two was written by an older version or a .NET peer.
        _ => state.is_blocked_by(retry.event_id.as_ref()),
    }
}
