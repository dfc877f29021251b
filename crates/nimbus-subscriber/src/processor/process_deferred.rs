use nimbus_inbox_core::DuplicateWhen;
use nimbus_messaging::{
    MalformedMessage, MessageType, ParkedCopy, ParkedRef, SessionState, property,
};
use tracing::Instrument;

use super::attempt::{Attempt, SetAside};
use super::block::Block;
use super::drain::next_drain;
use super::duplicate::Duplicate;
use super::{Interruption, Interrupts, Received, Services};
use crate::lifecycle::BlockCause;
use crate::responder::Outcome;
use crate::session::HeldSession;

/// How many parked copies one drain handles before it lets other messages of the lane pass.
const COPIES_PER_DRAIN: usize = 100;

impl Services {
    /// ProcessDeferredRequest: handles the session's parked copies in place, oldest first (SUB-18).
    pub(super) async fn process_deferred(
        &self,
        session: Option<&mut HeldSession>,
        interrupts: &Interrupts,
    ) -> Result<(), Interruption> {
        let Some(session) = session else {
            return Err(Interruption::Rejected {
                reason: "NoSession",
                description: "a ProcessDeferredRequest names no session to drain".to_owned(),
            });
        };
        let state = session.state().await?;
        if state.is_draining() && next_drain(state) == MessageType::ContinuationRequest {
            return self.request_drain(session).await;
        }
        for _ in 0..COPIES_PER_DRAIN {
            if session.state().await?.is_blocked() && holds!(DrainStopsAtBlock) {
                // Whatever unblocks the session drains it (SUB-16).
                return self.remove_blocking_copy(session).await;
            }
            let Some(copy) = session.first_parked().await? else {
                return self.close_the_gate(session).await;
            };
            if interrupts.stopping.is_cancelled() {
                return Err(Interruption::Cancelled);
            }
            if !holds!(DrainInPlace) {
                self.send_to_self(vec![copy.envelope]).await?;
                session
                    .unpark(&copy.reference, settled(&copy.reference))
                    .await?;
                continue;
            }
            self.replay_in_span(copy, session, interrupts).await?;
        }
        self.request_another_drain(session).await
    }

    /// Where the store can't write block and removal at once, a crash between them leaves the copy
    /// of the event that blocks. The block has its retry or its operator; the copy would run the
    /// event once more after them. A copy that is not settled yet is a repeat of the same message
    /// and waits for its turn.
    async fn remove_blocking_copy(&self, session: &mut HeldSession) -> Result<(), Interruption> {
        let Some(source) = session.state().await?.blocked_by_message_id.clone() else {
            return Ok(());
        };
        let Some(copy) = session.first_parked().await? else {
            return Ok(());
        };
        let settled = copy.reference.sequence < session.state().await?.lowest_unsettled();
        let properties = &copy.envelope.properties;
        let blocks = properties.text(property::INBOX_MESSAGE_ID).as_deref() == Some(&source);
        if settled && blocks {
            return session.unpark(&copy.reference, |_| {}).await;
        }
        Ok(())
    }

    /// Nothing is parked: a count that says otherwise was left by a crash or by a .NET peer
    /// (SUB-37).
    async fn close_the_gate(&self, session: &mut HeldSession) -> Result<(), Interruption> {
        if session.state().await?.deferred_count == 0 {
            return Ok(());
        }
        session.write(SessionState::settle_all).await
    }

    /// Handles one parked copy in a span of its own, which leads to whoever sent the message.
    async fn replay_in_span(
        &self,
        copy: ParkedCopy,
        session: &mut HeldSession,
        interrupts: &Interrupts,
    ) -> Result<(), Interruption> {
        let ParkedCopy {
            reference,
            envelope,
        } = copy;
        let received = Received::read(envelope, 1, None, self.clock.now());
        let span = self.spans.process(&self.endpoint, &received.0.headers);
        async {
            let ended = self.replay(reference, received, session, interrupts).await;
            ended.inspect_err(Interruption::mark_span)
        }
        .instrument(span)
        .await
    }

    /// Handles one parked copy and removes it.
    async fn replay(
        &self,
        reference: ParkedRef,
        (mut message, read): (Received, Result<(), MalformedMessage>),
        session: &mut HeldSession,
        interrupts: &Interrupts,
    ) -> Result<(), Interruption> {
        let read = read.and_then(|()| message.read_event());
        let done = settled(&reference);
        if let Err(malformed) = read {
            message.keep_event();
            let description = malformed.to_string();
            self.bury(&message, "MalformedMessage", description).await?;
            return session.unpark(&reference, done).await;
        }

        let identity = self.identify(&message, DuplicateWhen::AnyRecorded);
        if let Some(duplicate) = self.find_duplicate(&identity).await? {
            self.report_duplicate(&message, &duplicate).await?;
            return session.unpark(&reference, done).await;
        }
        match self.attempt(&message, &identity, interrupts).await? {
            Attempt::Duplicate => {
                self.report_duplicate(&message, &Duplicate::Claimed).await?;
                session.unpark(&reference, done).await
            }
            Attempt::Succeeded(record) => {
                self.record_and_resolve(&message, identity, record).await?;
                self.tally.replayed();
                session.unpark(&reference, done).await
            }
            Attempt::HandedOff(handoff) => {
                self.report_handoff(&message, handoff).await?;
                let block = self.blocking_for_handoff(&message);
                session.unpark(&reference, both(done, block)).await?;
                self.tell_blocked(&message, session, BlockCause::Handoff)
                    .await;
                Ok(())
            }
            Attempt::Failed { error_type, text } => {
                let block = Block::new(&error_type, &text);
                let retry = self.plan_retry(&message, &block.error);
                self.report_failure(&message, &block.error, retry).await?;
                // Before the block is written: after it, a redelivered drain would stop at the
                // block and the retry would be lost.
                self.schedule_retry(&message, Some(&block.id), &block.error, retry)
                    .await?;
                let block = self.blocking(&message, block);
                session.unpark(&reference, both(done, block)).await?;
                self.tell_blocked(&message, session, BlockCause::Failure)
                    .await;
                Ok(())
            }
            Attempt::SetAside(SetAside::DeadLettered {
                reason,
                description,
            }) => {
                self.bury(&message, reason, description).await?;
                session.unpark(&reference, done).await
            }
            Attempt::SetAside(reason) => {
                self.set_aside(&message, reason).await?;
                session.unpark(&reference, done).await
            }
        }
    }

    /// Dead-letters a copy, which no broker holds any more: the resolver's message, with the event
    /// in it, is what is left, so it must arrive.
    async fn bury(
        &self,
        message: &Received,
        reason: &str,
        description: String,
    ) -> Result<(), Interruption> {
        self.tally.dead_lettered();
        let outcome = Outcome::DeadLettered {
            reason: reason.to_owned(),
            description: description.clone(),
        };
        self.responder.send_whole(message.about(), outcome).await?;
        self.tell_dead_lettered(message, reason, &description).await;
        Ok(())
    }
}

/// The change that counts a copy as settled (SUB-36).
fn settled(copy: &ParkedRef) -> impl FnOnce(&mut SessionState) + Send + use<> {
    let sequence = copy.sequence;
    move |state| state.settle_up_to(sequence)
}

fn both(
    first: impl FnOnce(&mut SessionState) + Send,
    second: impl FnOnce(&mut SessionState) + Send,
) -> impl FnOnce(&mut SessionState) + Send {
    move |state| {
        first(state);
        second(state);
    }
}
