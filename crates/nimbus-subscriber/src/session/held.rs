use std::num::NonZeroU32;
use std::sync::Arc;

use nimbus_messaging::{
    Cas, ParkedCopy, ParkedRef, SessionId, SessionState, SessionStore, TransportError,
    VersionedState,
};

use crate::processor::{Interruption, bounded};

/// A session whose lane this receiver holds.
///
/// The first access raises the version of the state (SUB-08). From then on every writer that held
/// the lane before fails its next conditional write, so what was read here stays true until our own
/// write says otherwise. Any failure ends the lane: the next one starts with a new fence.
#[derive(Debug)]
pub(crate) struct HeldSession {
    id: SessionId,
    store: Arc<dyn SessionStore>,
    fenced: Option<VersionedState>,
    doubtful: bool,
}

impl HeldSession {
    pub(crate) fn new(id: SessionId, store: Arc<dyn SessionStore>) -> Self {
        Self {
            id,
            store,
            fenced: None,
            doubtful: false,
        }
    }

    pub(crate) fn id(&self) -> &SessionId {
        &self.id
    }

    /// Whether a write was not confirmed: it may have happened, and what is known here is then no
    /// longer true. The lane has to end, so that the next one reads anew.
    pub(crate) fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// The session's state.
    pub(crate) async fn state(&mut self) -> Result<&SessionState, Interruption> {
        Ok(&self.fenced().await?.state)
    }

    /// Changes the state.
    pub(crate) async fn write(
        &mut self,
        change: impl FnOnce(&mut SessionState) + Send,
    ) -> Result<(), Interruption> {
        let (state, expected) = self.changed(change).await?;
        let written = bounded(self.store.write(&self.id, &state, expected)).await;
        self.adopt(state, written)
    }

    /// Stores a copy and changes the state with it (SUB-35).
    pub(crate) async fn park(
        &mut self,
        copy: &ParkedCopy,
        change: impl FnOnce(&mut SessionState) + Send,
    ) -> Result<(), Interruption> {
        let (state, expected) = self.changed(change).await?;
        let written = bounded(self.store.park(&self.id, copy, &state, expected)).await;
        self.adopt(state, written)
    }

    /// Removes a copy and changes the state with it (SUB-18).
    pub(crate) async fn unpark(
        &mut self,
        copy: &ParkedRef,
        change: impl FnOnce(&mut SessionState) + Send,
    ) -> Result<(), Interruption> {
        let (state, expected) = self.changed(change).await?;
        let written = bounded(self.store.unpark(&self.id, copy, &state, expected)).await;
        self.adopt(state, written)
    }

    /// The parked copy whose turn it is.
    pub(crate) async fn first_parked(&mut self) -> Result<Option<ParkedCopy>, Interruption> {
        let copies = bounded(self.store.parked(&self.id, NonZeroU32::MIN))
            .await
            .map_err(|error| self.failed("reading the parked messages", &error))?;
        Ok(copies.into_iter().next())
    }

    async fn fenced(&mut self) -> Result<&VersionedState, Interruption> {
        if self.fenced.is_none() {
            let fenced = if holds!(Fence) {
                self.store.fence(&self.id)
            } else {
                self.store.read(&self.id)
            };
            let state = bounded(fenced)
                .await
                .map_err(|error| self.failed("reading the session state", &error))?;
            return Ok(self.fenced.insert(state));
        }
        self.fenced.as_ref().ok_or(Interruption::LockLost)
    }

    async fn changed(
        &mut self,
        change: impl FnOnce(&mut SessionState) + Send,
    ) -> Result<(SessionState, nimbus_messaging::StateVersion), Interruption> {
        let current = self.fenced().await?;
        let mut state = current.state.clone();
        change(&mut state);
        Ok((state, current.version))
    }

    fn adopt(
        &mut self,
        state: SessionState,
        written: Result<Cas, TransportError>,
    ) -> Result<(), Interruption> {
        match written {
            Ok(Cas::Written(version)) => {
                self.fenced = Some(VersionedState { state, version });
                Ok(())
            }
            Ok(Cas::Conflict) => {
                tracing::warn!(
                    session = %self.id,
                    "another receiver took over this session; leaving the message to it"
                );
                Err(Interruption::LockLost)
            }
            Err(error) => {
                self.doubtful = true;
                Err(self.failed("writing the session state", &error))
            }
        }
    }

    fn failed(&self, what: &str, error: &TransportError) -> Interruption {
        tracing::warn!(
            session = %self.id,
            error = error as &dyn std::error::Error,
            "{what} failed; the message is left for redelivery"
        );
        Interruption::from_transport(error)
    }
}
