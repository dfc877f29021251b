use nimbus_inbox_core::DuplicateWhen;
use nimbus_messaging::{Headers, SessionState};

use super::attempt::{Attempt, SetAside};
use super::duplicate::Duplicate;
use super::failure::error_content;
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
        let counts = match session {
            Some(_) => DuplicateWhen::OwnRecorded,
            None => DuplicateWhen::AnyRecorded,
        };
        let identity = self.identify(message, counts);
        let duplicate = self.find_duplicate(&identity).await?;
        let claim = match session.as_deref_mut() {
            Some(session) => claim_of(&message.headers, session.state().await?),
            None => Claim::Own,
        };

        let duplicate = duplicate.filter(|_| holds!(InboxBeforeBlock) || claim == Claim::Own);
        if let Some(duplicate) = duplicate {
            if claim == Claim::Own || holds!(DuplicateDrains) {
                self.release(session, claim == Claim::Own).await?;
            }
            return self.report_duplicate(message, &duplicate).await;
        }
        match claim {
            Claim::Own => {}
            Claim::Repeated => return self.repeat_schedule(message, session).await,
            // That block has a retry, a job or an operator of its own: the event is not done.
            Claim::Outlived => return Ok(()),
            Claim::None => {
                // The event was completed another way; after a crash between unblock and drain this
                // is the only trigger left (SUB-16).
                self.release(session, false).await?;
                return self
                    .responder
                    .send(message.about(), Outcome::Resolved)
                    .await;
            }
        }
        match self.attempt(message, &identity, interrupts).await? {
            Attempt::Succeeded(record) => {
                self.record_success(message, identity, record).await?;
                self.release(session, true).await?;
                self.responder
                    .send(message.about(), Outcome::Resolved)
                    .await
            }
            Attempt::Duplicate => {
                self.release(session, true).await?;
                self.report_duplicate(message, &Duplicate::Claimed).await
            }
            Attempt::HandedOff(handoff) => {
                self.report_handoff(message, handoff).await?;
                match session {
                    Some(session) => self.block_for_handoff(message, session).await,
                    None => Ok(()),
                }
            }
            Attempt::Failed { error_type, text } => {
                let error = error_content(&error_type, &text);
                let retry = self.plan_retry(message, &error);
                self.report_failure(message, &error, retry).await?;
                let retries_so_far = message.headers.retry_count.unwrap_or(0);
                let block_id = match session {
                    Some(session) => {
                        let failed = error.clone();
                        session
                            .write(move |state| {
                                state.blocked_retry_count = retries_so_far;
                                state.blocked_by_error = Some(failed);
                            })
                            .await?;
                        session.state().await?.block_id.clone()
                    }
                    None => None,
                };
                self.schedule_retry(message, block_id.as_deref(), &error, retry)
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
}

/// What a retry has to do with the block of its session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    /// The block is the very one that the retry was scheduled for.
    Own,
    /// The same, but this retry has failed already: it is a second copy of it, or the crash came
    /// before its successor was scheduled.
    Repeated,
    /// The same event blocks again, or waits for an external job: a late retry must not release
    /// that block (SUB-11).
    Outlived,
    /// Its event blocks nothing.
    None,
}

fn claim_of(retry: &Headers, state: &SessionState) -> Claim {
    let same_event = state.is_blocked_by(retry.event_id.as_ref());
    let own = match (&retry.block_id, &state.block_id) {
        (Some(retry), Some(block)) if holds!(RetryNamesItsBlock) => {
            state.is_blocked() && retry == block
        }
        // One of the two was written by an older version or a .NET peer.
        _ => same_event && !(state.blocked_by_handoff && holds!(RetryNamesItsBlock)),
    };
    let failed = state.blocked_retry_count;
    let repeated = failed > 0 && retry.retry_count.is_some_and(|count| count <= failed);
    match (own, same_event) {
        (true, _) if repeated => Claim::Repeated,
        (true, _) => Claim::Own,
        (false, true) => Claim::Outlived,
        (false, false) => Claim::None,
    }
}
