use nimbus_inbox_core::DuplicateWhen;
use nimbus_messaging::SessionState;

use super::attempt::Attempt;
use super::block::Block;
use super::duplicate::Duplicate;
use super::success::Record;
use super::{Interruption, Interrupts, Received, Services};
use crate::lifecycle::BlockCause;
use crate::responder::Outcome;
use crate::session::HeldSession;

/// Event type of the message that asks whether the endpoint is alive.
pub(crate) const HEARTBEAT: &str = "Heartbeat";

/// Whether messages that wait hold an event back (SUB-36).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gate {
    /// It goes behind them.
    Holds,
    /// It is the first of them.
    Passes,
}

/// Whose turn it is in a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// This message's.
    Now,
    /// Not this message's; all that it needs has been done.
    Waits,
}

impl Services {
    /// EventRequest, also an UnsupportedResponse that comes back (SUB-09).
    pub(super) async fn event_request(
        &self,
        message: &mut Received,
        session: Option<&mut HeldSession>,
        interrupts: &Interrupts,
    ) -> Result<(), Interruption> {
        self.handle_event(message, session, interrupts, Gate::Holds)
            .await
    }

    pub(super) async fn handle_event(
        &self,
        message: &mut Received,
        mut session: Option<&mut HeldSession>,
        interrupts: &Interrupts,
        gate: Gate,
    ) -> Result<(), Interruption> {
        if message.moves {
            return self.move_to_session(message).await;
        }
        message.read_event()?;
        let message = &*message;
        if message.event_type() == HEARTBEAT && !self.pipeline.handles(HEARTBEAT) {
            self.responder
                .send(message.about(), Outcome::Resolved)
                .await?;
            return Ok(());
        }

        // Before the guard: a duplicate is no reason to park anything (INB-08). A copy that a .NET
        // peer republished carries its source id (SUB-18).
        let identity = self.identify(message, DuplicateWhen::AnyRecorded);
        if let Some(duplicate) = self.find_duplicate(&identity).await? {
            return self.skip_event(message, session, gate, &duplicate).await;
        }
        if let Some(session) = session.as_deref_mut()
            && self.guard(message, session, gate).await? == Turn::Waits
        {
            return Ok(());
        }

        if !holds!(RecordAfterHandler) {
            self.record(identity.clone(), Record::Due).await?;
        }
        match self.attempt(message, &identity, interrupts).await? {
            Attempt::Succeeded(record) => {
                self.record_and_resolve(message, identity, record).await?;
            }
            Attempt::Duplicate => {
                return self
                    .skip_event(message, session, gate, &Duplicate::Claimed)
                    .await;
            }
            Attempt::HandedOff(handoff) => {
                self.report_handoff(message, handoff).await?;
                if let Some(session) = session {
                    self.block_for_handoff(message, session).await?;
                }
            }
            Attempt::Failed { error_type, text } => {
                let block = Block::new(&error_type, &text);
                let retry = self.plan_retry(message, &block.error);
                self.report_failure(message, &block.error, retry).await?;
                let (block_id, error) = (block.id.clone(), block.error.clone());
                if let Some(session) = session {
                    session.write(self.blocking(message, block)).await?;
                    self.tell_blocked(message, session, BlockCause::Failure)
                        .await;
                }
                self.schedule_retry(message, Some(&block_id), &error, retry)
                    .await?;
            }
            Attempt::SetAside(reason) => self.set_aside(message, reason).await?,
        }
        Ok(())
    }

    /// Skips an event whose work was done before.
    async fn skip_event(
        &self,
        message: &Received,
        session: Option<&mut HeldSession>,
        gate: Gate,
        duplicate: &Duplicate,
    ) -> Result<(), Interruption> {
        if let Some(session) = session
            && gate == Gate::Holds
            && holds!(DuplicateDrains)
        {
            // After a crash between unblock and drain this delivery is the only trigger left
            // (SUB-19); a session that another event blocks is left alone.
            self.request_drain(session).await?;
        }
        self.report_duplicate(message, duplicate).await
    }

    /// Keeps the session in order.
    async fn guard(
        &self,
        message: &Received,
        session: &mut HeldSession,
        gate: Gate,
    ) -> Result<Turn, Interruption> {
        let state = session.state().await?;
        let (blocked, draining) = (state.is_blocked(), state.is_draining());
        if blocked {
            if !self.owns_the_block(message, state) {
                self.park(message, session).await?;
                return Ok(Turn::Waits);
            }
            if !state.blocked_by_handoff {
                // The crash came after the block: repeat what may be missing instead of parking
                // the message behind itself (SUB-10).
                self.repeat_schedule(message, Some(session)).await?;
            }
            return Ok(Turn::Waits);
        }
        if draining && gate == Gate::Holds && holds!(DrainGate) {
            // Behind the messages that wait, never past them (SUB-36).
            self.park(message, session).await?;
            self.request_drain(session).await?;
            return Ok(Turn::Waits);
        }
        Ok(Turn::Now)
    }

    /// Whether the session's block is of this very delivery (SUB-10).
    pub(super) fn owns_the_block(&self, message: &Received, state: &SessionState) -> bool {
        let source = self.usable_source(message);
        source.is_some() && state.blocked_by_message_id == source
    }
}
