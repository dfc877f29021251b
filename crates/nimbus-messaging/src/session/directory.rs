use std::fmt::Debug;
use std::num::NonZeroU32;

use async_trait::async_trait;

use super::{ParkedCopy, SessionId, SessionState};
use crate::transport::TransportError;

/// Looks at the sessions of one endpoint without holding them, for tools.
///
/// What it sees may have changed by the time it answers.
///
/// # Cancel safety
///
/// It changes nothing; every call may be dropped.
#[async_trait]
pub trait SessionDirectory: Debug + Send + Sync + 'static {
    /// The first `limit` sessions that are blocked or have messages set aside, ordered by name,
    /// from `after` on.
    ///
    /// # Errors
    ///
    /// [`TransportError`], transient or configuration;
    /// [`Unroutable`](crate::TransportErrorKind::Unroutable) when nothing receives for the endpoint.
    async fn list(
        &self,
        after: Option<&SessionId>,
        limit: NonZeroU32,
    ) -> Result<Vec<SessionOverview>, TransportError>;

    /// One session; one that was never seen is free and empty.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    async fn look(&self, session: &SessionId) -> Result<SessionOverview, TransportError>;

    /// The first `limit` parked copies of a session, in the order in which they are handled.
    ///
    /// # Errors
    ///
    /// As [`list`](Self::list).
    async fn parked(
        &self,
        session: &SessionId,
        limit: NonZeroU32,
    ) -> Result<Vec<ParkedCopy>, TransportError>;
}

/// A session as it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionOverview {
    /// The session.
    pub id: SessionId,
    /// Its state; `None` when what is stored can't be read, and someone has to correct it.
    pub state: Option<SessionState>,
    /// How many copies are parked, whatever the state counts.
    pub parked: u64,
}
