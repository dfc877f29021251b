use nimbus_messaging::SessionState;

use super::{Interruption, Received, Services};
use crate::session::HeldSession;

impl Services {
    /// Unblocks a session whose block is this message's own, and has it drained if it is then free
    /// (SUB-16).
    pub(super) async fn release(
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

    /// As [`release`](Self::release), where what counts is whether the event of `message` blocks.
    /// A session that another event blocks is left alone.
    pub(super) async fn release_from_event(
        &self,
        message: &Received,
        session: Option<&mut HeldSession>,
    ) -> Result<(), Interruption> {
        let Some(session) = session else {
            return Ok(());
        };
        let event_id = message.headers.event_id.as_ref();
        let blocks = session.state().await?.is_blocked_by(event_id);
        self.release(Some(session), blocks).await
    }
}
