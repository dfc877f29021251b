use nimbus_messaging::{ErrorContent, SessionState, random_message_id};

use super::failure::error_content;
use super::{Interruption, Received, Services};
use crate::lifecycle::BlockCause;
use crate::session::HeldSession;

/// What blocks a session, chosen before anything is written (SUB-10).
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) id: String,
    pub(super) error: ErrorContent,
}

impl Block {
    pub(super) fn new(error_type: &str, text: &str) -> Self {
        Self {
            id: random_message_id(),
            error: error_content(error_type, text),
        }
    }
}

impl Services {
    /// The change that blocks a session by the event of `message` (INB-17, SUB-10).
    pub(super) fn blocking(
        &self,
        message: &Received,
        block: Block,
    ) -> impl FnOnce(&mut SessionState) + Send + use<> {
        let event_id = message.headers.event_id.clone();
        let source = self.usable_source(message);
        let retries_so_far = message.headers.retry_count.unwrap_or(0);
        move |state| {
            state.blocked_by_event_id = event_id;
            state.blocked_by_message_id = source;
            state.blocked_retry_count = retries_so_far;
            state.block_id = Some(block.id);
            state.blocked_by_handoff = false;
            state.blocked_by_error = Some(block.error);
        }
    }

    /// Blocks a session until an external job is settled (SUB-14).
    pub(super) async fn block_for_handoff(
        &self,
        message: &Received,
        session: &mut HeldSession,
    ) -> Result<(), Interruption> {
        session.write(self.blocking_for_handoff(message)).await?;
        self.tell_blocked(message, session, BlockCause::Handoff)
            .await;
        Ok(())
    }

    /// The change that blocks a session until an external job is settled (SUB-14).
    ///
    /// An event that blocked before keeps the source id that was stored first (INB-17).
    pub(super) fn blocking_for_handoff(
        &self,
        message: &Received,
    ) -> impl FnOnce(&mut SessionState) + Send + use<> {
        let event_id = message.headers.event_id.clone();
        let source = self.usable_source(message);
        move |state| {
            if !state.is_blocked_by(event_id.as_ref()) {
                state.blocked_by_message_id = source;
            }
            state.blocked_by_event_id = event_id;
            state.block_id = Some(random_message_id());
            state.blocked_by_handoff = true;
            state.blocked_by_error = None;
            state.blocked_retry_count = 0;
        }
    }
}
