use std::fmt;
use std::sync::Arc;

use nimbus_messaging::SessionId;

/// A lane as the person on call knows it.
#[derive(Debug, Clone)]
pub(super) struct LaneName {
    pub(super) queue: Arc<str>,
    pub(super) session: Option<SessionId>,
}

impl fmt::Display for LaneName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.session {
            Some(session) => write!(f, "session {session:?} of {}", self.queue),
            None => write!(f, "a message without a session of {}", self.queue),
        }
    }
}
