use std::fmt::Debug;
use std::num::NonZeroU32;

use async_trait::async_trait;

use super::{ParkedCopy, ParkedRef, SessionId, SessionState};
use crate::transport::TransportError;

/// The version of a session's state; raised by the fence and by every write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StateVersion(pub i64);

/// A state and the version it was read at.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionedState {
    /// The state.
    pub state: SessionState,
    /// The version that the next write must expect.
    pub version: StateVersion,
}

/// What a conditional write found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use = "after a conflict the lock is lost and nothing more may be done"]
pub enum Cas {
    /// It was written, and is now at this version.
    Written(StateVersion),
    /// Another receiver fenced the session or wrote to it: the lock is lost. Stop; never read
    /// again and reapply (SUB-08).
    Conflict,
}

/// What a session store can promise beyond its contract.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionStoreCapabilities {
    /// [`park`](SessionStore::park) and [`unpark`](SessionStore::unpark) change copy and state in
    /// one transaction.
    pub atomic: bool,
}

/// Keeps the state and the parked copies of one endpoint's sessions.
///
/// Every write is conditional on the version (SUB-08).
///
/// # Cancel safety
///
/// A dropped call leaves each of its steps done whole or not at all, in the order each method
/// states; a redelivery repeats them.
#[async_trait]
pub trait SessionStore: Debug + Send + Sync + 'static {
    /// What it can promise.
    fn capabilities(&self) -> SessionStoreCapabilities;

    /// Raises the version and returns the state: the first access after accepting a lane, which
    /// shuts out a predecessor whose lock expired (SUB-08).
    ///
    /// # Errors
    ///
    /// [`TransportError`], transient or configuration.
    async fn fence(&self, session: &SessionId) -> Result<VersionedState, TransportError>;

    /// Reads the state without raising the version; for tools.
    ///
    /// # Errors
    ///
    /// [`TransportError`], transient or configuration.
    async fn read(&self, session: &SessionId) -> Result<VersionedState, TransportError>;

    /// Replaces the state if its version is still `expected`.
    ///
    /// # Errors
    ///
    /// [`TransportError`]; the write may have happened all the same.
    async fn write(
        &self,
        session: &SessionId,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError>;

    /// Stores a copy, then replaces the state, in one transaction where the store can (SUB-35).
    ///
    /// The same sequence and id again keeps one copy and raises its generation; another id at the
    /// same sequence is kept beside it. After a conflict an atomic store has kept nothing; another
    /// may have kept the copy, which the next drain handles.
    ///
    /// # Errors
    ///
    /// [`TransportError`]; either step may have happened all the same.
    async fn park(
        &self,
        session: &SessionId,
        copy: &ParkedCopy,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError>;

    /// The first `limit` parked copies, ordered by sequence, then id.
    ///
    /// # Errors
    ///
    /// [`TransportError`], transient or configuration.
    async fn parked(
        &self,
        session: &SessionId,
        limit: NonZeroU32,
    ) -> Result<Vec<ParkedCopy>, TransportError>;

    /// Replaces the state, then removes the copy if it is still of that generation; in one
    /// transaction where the store can (SUB-18). After a conflict nothing was removed.
    ///
    /// # Errors
    ///
    /// [`TransportError`]; either step may have happened all the same.
    async fn unpark(
        &self,
        session: &SessionId,
        copy: &ParkedRef,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError>;
}
