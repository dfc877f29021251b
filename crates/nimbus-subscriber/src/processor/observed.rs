use super::{Received, Services};
use crate::handler::{FailureClass, HandlerError};
use crate::lifecycle::{
    BlockCause, MessageCompleted, MessageDeadLettered, MessageFailed, MessageReceived,
    SessionBlocked, Signal,
};
use crate::responder::cut;
use crate::session::HeldSession;

/// What observers are told, where more than one place tells it (SUB-23).
impl Services {
    pub(super) async fn tell_received(&self, message: &Received) {
        self.lifecycle
            .tell(Signal::Received(MessageReceived {
                endpoint: &self.endpoint,
                headers: &message.headers,
                delivery_count: message.delivery_count,
            }))
            .await;
    }

    pub(super) async fn tell_completed(&self, message: &Received) {
        self.lifecycle
            .tell(Signal::Completed(MessageCompleted {
                endpoint: &self.endpoint,
                headers: &message.headers,
            }))
            .await;
    }

    pub(super) async fn tell_failed(
        &self,
        message: &Received,
        class: FailureClass,
        error: &HandlerError,
    ) {
        self.lifecycle
            .tell(Signal::Failed(MessageFailed {
                endpoint: &self.endpoint,
                headers: &message.headers,
                class,
                error_type: error.error_type(),
                error_text: error.text(),
            }))
            .await;
    }

    pub(super) async fn tell_dead_lettered(
        &self,
        message: &Received,
        reason: &str,
        description: &str,
    ) {
        self.lifecycle
            .tell(Signal::DeadLettered(MessageDeadLettered {
                endpoint: &self.endpoint,
                headers: &message.headers,
                reason,
                description: cut(description),
            }))
            .await;
    }

    pub(super) async fn tell_blocked(
        &self,
        message: &Received,
        session: &HeldSession,
        cause: BlockCause,
    ) {
        self.lifecycle
            .tell(Signal::SessionBlocked(SessionBlocked {
                endpoint: &self.endpoint,
                session_id: session.id(),
                headers: &message.headers,
                cause,
            }))
            .await;
    }
}
