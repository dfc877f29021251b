use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use nimbus_messaging::{
    Cas, ParkedCopy, ParkedRef, SessionId, SessionState, SessionStore, SessionStoreCapabilities,
    StateVersion, TransportError, VersionedState,
};
use nimbus_sqlite::rusqlite::{self, Connection};

use super::{parked, state};
use crate::address::QueueId;
use crate::error::{self, Doing};
use crate::line::Held;
use crate::message::StoredEnvelope;
use crate::shared::Shared;

/// The sessions of a held lane. Each change asks for the lock in its own transaction (SUB-08).
#[derive(Debug)]
pub(crate) struct EmbeddedSessions {
    shared: Arc<Shared>,
    queue: QueueId,
    held: Held,
}

impl EmbeddedSessions {
    pub(crate) fn new(shared: Arc<Shared>, queue: QueueId, held: Held) -> Self {
        Self {
            shared,
            queue,
            held,
        }
    }

    /// Runs `change` in a transaction in which the session is locked by this holder.
    async fn change<T, F>(
        &self,
        what: &'static str,
        session: &SessionId,
        mut change: F,
    ) -> Result<T, TransportError>
    where
        F: FnMut(&Connection, QueueId, &SessionId) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let (queue, held, key) = (self.queue, self.held, session.clone());
        self.shared
            .write(Doing(what, session), move |tx, now| {
                if !state::is_locked(tx, queue, &key, held, now.unix_ticks())? {
                    return Ok(None);
                }
                change(tx, queue, &key).map(Some)
            })
            .await?
            .ok_or_else(|| {
                error::lock_lost(format_args!("session {session:?}"), "its state was changed")
            })
    }
}

#[async_trait]
impl SessionStore for EmbeddedSessions {
    fn capabilities(&self) -> SessionStoreCapabilities {
        SessionStoreCapabilities { atomic: true }
    }

    async fn fence(&self, session: &SessionId) -> Result<VersionedState, TransportError> {
        let stored = self
            .change("fencing session", session, state::fence)
            .await?;
        state::versioned(session, stored)
    }

    async fn read(&self, session: &SessionId) -> Result<VersionedState, TransportError> {
        let (queue, key) = (self.queue, session.clone());
        let stored = self
            .shared
            .read(Doing("reading the state of session", session), move |tx| {
                state::read(tx, queue, &key)
            })
            .await?;
        state::versioned(session, stored)
    }

    async fn write(
        &self,
        session: &SessionId,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let json = state.to_json();
        self.change(
            "writing the state of session",
            session,
            move |tx, queue, session| {
                state::replace(tx, queue, session, &json, expected).map(outcome)
            },
        )
        .await
    }

    async fn park(
        &self,
        session: &SessionId,
        copy: &ParkedCopy,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let (json, reference) = (state.to_json(), copy.reference.clone());
        let message = StoredEnvelope::new(copy.envelope.clone());
        self.change(
            "parking a message of session",
            session,
            move |tx, queue, session| {
                let written = state::replace(tx, queue, session, &json, expected)?;
                if written.is_some() {
                    parked::keep(tx, queue, session, &reference, &message)?;
                }
                Ok(outcome(written))
            },
        )
        .await
    }

    async fn parked(
        &self,
        session: &SessionId,
        limit: NonZeroU32,
    ) -> Result<Vec<ParkedCopy>, TransportError> {
        let (queue, key) = (self.queue, session.clone());
        self.shared
            .read(
                Doing("reading parked messages of session", session),
                move |tx| parked::list(tx, queue, &key, limit.get()),
            )
            .await
    }

    async fn unpark(
        &self,
        session: &SessionId,
        copy: &ParkedRef,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let (json, reference) = (state.to_json(), copy.clone());
        self.change(
            "removing a parked message of session",
            session,
            move |tx, queue, session| {
                let written = state::replace(tx, queue, session, &json, expected)?;
                if written.is_some() {
                    parked::remove(tx, queue, session, &reference)?;
                }
                Ok(outcome(written))
            },
        )
        .await
    }
}

fn outcome(written: Option<StateVersion>) -> Cas {
    written.map_or(Cas::Conflict, Cas::Written)
}
