use nimbus_inbox_core::EndpointId;

use super::{
    DuplicateDetected, LifecycleObserver, MessageCompleted, MessageDeadLettered, MessageFailed,
    MessageReceived, ObserverError, SessionBlocked,
};

/// Something that observers hear of.
#[derive(Debug)]
pub(crate) enum Signal<'a> {
    Received(MessageReceived<'a>),
    Completed(MessageCompleted<'a>),
    Failed(MessageFailed<'a>),
    DeadLettered(MessageDeadLettered<'a>),
    SessionBlocked(SessionBlocked<'a>),
    DuplicateDetected(DuplicateDetected<'a>),
}

impl Signal<'_> {
    pub(super) async fn tell(&self, observer: &dyn LifecycleObserver) -> Result<(), ObserverError> {
        match self {
            Self::Received(event) => observer.on_received(event).await,
            Self::Completed(event) => observer.on_completed(event).await,
            Self::Failed(event) => observer.on_failed(event).await,
            Self::DeadLettered(event) => observer.on_dead_lettered(event).await,
            Self::SessionBlocked(event) => observer.on_session_blocked(event).await,
            Self::DuplicateDetected(event) => observer.on_duplicate_detected(event).await,
        }
    }

    /// How many kinds there are.
    pub(super) const KINDS: usize = 6;

    /// The number of its kind.
    pub(super) fn kind(&self) -> usize {
        match self {
            Self::Received(_) => 0,
            Self::Completed(_) => 1,
            Self::Failed(_) => 2,
            Self::DeadLettered(_) => 3,
            Self::SessionBlocked(_) => 4,
            Self::DuplicateDetected(_) => 5,
        }
    }

    /// Its name in log lines.
    pub(super) fn name(&self) -> &'static str {
        match self {
            Self::Received(_) => "received",
            Self::Completed(_) => "completed",
            Self::Failed(_) => "failed",
            Self::DeadLettered(_) => "dead-lettered",
            Self::SessionBlocked(_) => "session blocked",
            Self::DuplicateDetected(_) => "duplicate detected",
        }
    }

    pub(super) fn endpoint(&self) -> &EndpointId {
        match self {
            Self::Received(event) => event.endpoint,
            Self::Completed(event) => event.endpoint,
            Self::Failed(event) => event.endpoint,
            Self::DeadLettered(event) => event.endpoint,
            Self::SessionBlocked(event) => event.endpoint,
            Self::DuplicateDetected(event) => event.endpoint,
        }
    }
}
