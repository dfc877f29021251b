//! The contract, on top of the rows.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{
    Cas, ParkedCopy, ParkedRef, SessionId, SessionState, SessionStore, SessionStoreCapabilities,
    StateVersion, TransportError, VersionedState,
};
use nimbus_sqlite::rusqlite::{self, Connection};
use nimbus_sqlite::{Database, SqliteError};

use super::parked::StoredCopy;
use super::state::StoredState;
use super::{error, parked, schema, state};
use crate::tables::{Tables, Unusable};

/// State and parked copies of one endpoint's sessions, in one SQLite file.
///
/// For transports whose broker keeps no session state. A copy and the state that counts it change
/// in one transaction. Endpoints share the tables and never see each other's sessions. The row of
/// a session's state stays for good: its version must never fall.
///
/// Cheap to clone; clones share the file.
#[derive(Clone)]
pub struct SqliteSessions {
    tables: Arc<Tables>,
    endpoint: EndpointId,
}

/// One session of one endpoint, as the rows name it.
#[derive(Debug, Clone)]
pub(super) struct Session {
    endpoint: EndpointId,
    id: SessionId,
}

impl Session {
    pub(super) fn names(&self) -> (&str, &str) {
        (self.endpoint.as_str(), self.id.as_str())
    }
}

impl SqliteSessions {
    /// The sessions of `endpoint` in a file that is open already, such as
    /// [that of the inbox](crate::SqliteInbox::database).
    ///
    /// Missing tables are created at the first use.
    #[must_use]
    pub fn new(database: Database, endpoint: EndpointId) -> Self {
        Self {
            tables: Arc::new(Tables::new(database, schema::schema(), true)),
            endpoint,
        }
    }

    /// Whether missing tables are created; they are unless set.
    ///
    /// Otherwise `cargo xtask provision --sessions PATH` creates them, from [`ddl`](Self::ddl), and
    /// until then every call is a configuration error.
    #[must_use]
    pub fn with_auto_create(self, create: bool) -> Self {
        let database = self.tables.database().clone();
        Self {
            tables: Arc::new(Tables::new(database, schema::schema(), create)),
            endpoint: self.endpoint,
        }
    }

    /// Makes sure before the first message that the tables are there.
    ///
    /// # Errors
    ///
    /// A configuration error when they are missing or can't be used, a transient one when other
    /// processes keep the file locked.
    ///
    /// # Cancel safety
    ///
    /// Dropped, all tables were created or none.
    pub async fn verify(&self) -> Result<(), TransportError> {
        let found = self.tables.look().await;
        found.map_err(|unusable| self.unusable("looking for its tables", unusable))
    }

    /// The statements that create the tables, in order. They tolerate to run again.
    #[must_use]
    pub fn ddl() -> String {
        schema::DDL.to_owned()
    }

    async fn read_in<T, F>(&self, what: &str, id: &SessionId, work: F) -> Result<T, TransportError>
    where
        F: FnOnce(&Connection, &Session) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.ensure(what).await?;
        let session = self.session(id);
        let read = self.tables.database().read(move |tx| work(tx, &session));
        read.await.map_err(|error| self.failed(what, error))
    }

    async fn write_in<T, F>(
        &self,
        what: &str,
        id: &SessionId,
        mut work: F,
    ) -> Result<T, TransportError>
    where
        F: FnMut(&Connection, &Session) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.ensure(what).await?;
        let session = self.session(id);
        let write = self.tables.database().write(move |tx| work(tx, &session));
        write.await.map_err(|error| self.failed(what, error))
    }

    async fn ensure(&self, what: &str) -> Result<(), TransportError> {
        let found = self.tables.ensure().await;
        found.map_err(|unusable| self.unusable(what, unusable))
    }

    fn session(&self, id: &SessionId) -> Session {
        Session {
            endpoint: self.endpoint.clone(),
            id: id.clone(),
        }
    }

    fn failed(&self, what: &str, error: SqliteError) -> TransportError {
        self.tables.noticed(&error);
        error::failed(what, error)
    }

    fn unusable(&self, what: &str, unusable: Unusable) -> TransportError {
        match unusable {
            Unusable::File(error) => self.failed(what, error),
            Unusable::Encoding(context) => TransportError::configuration(context),
        }
    }
}

#[async_trait]
impl SessionStore for SqliteSessions {
    fn capabilities(&self) -> SessionStoreCapabilities {
        SessionStoreCapabilities { atomic: true }
    }

    async fn fence(&self, session: &SessionId) -> Result<VersionedState, TransportError> {
        let stored = self
            .write_in("fencing a session", session, state::fence)
            .await?;
        versioned(session, stored)
    }

    async fn read(&self, session: &SessionId) -> Result<VersionedState, TransportError> {
        let stored = self
            .read_in("reading a session's state", session, state::read)
            .await?;
        versioned(session, stored)
    }

    async fn write(
        &self,
        session: &SessionId,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let json = state.to_json();
        self.write_in("writing a session's state", session, move |db, session| {
            state::replace(db, session, &json, expected).map(outcome)
        })
        .await
    }

    async fn park(
        &self,
        session: &SessionId,
        copy: &ParkedCopy,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let json = state.to_json();
        let copy = StoredCopy {
            reference: copy.reference.clone(),
            envelope: copy.envelope_json(),
            body: copy.envelope.body.to_vec(),
        };
        self.write_in("parking a message", session, move |db, session| {
            let written = state::replace(db, session, &json, expected)?;
            if written.is_some() {
                parked::keep(db, session, &copy)?;
            }
            Ok(outcome(written))
        })
        .await
    }

    async fn parked(
        &self,
        session: &SessionId,
        limit: NonZeroU32,
    ) -> Result<Vec<ParkedCopy>, TransportError> {
        let stored = self
            .read_in("reading parked messages", session, move |db, session| {
                parked::list(db, session, limit.get())
            })
            .await?;
        stored
            .into_iter()
            .map(|copy| {
                let what = format!("the parked copy {:?}", copy.reference.id);
                ParkedCopy::restored(copy.reference, &copy.envelope, copy.body).map_err(|problem| {
                    error::unreadable(&what, "nimbus_session_parked", session, problem)
                })
            })
            .collect()
    }

    async fn unpark(
        &self,
        session: &SessionId,
        copy: &ParkedRef,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let (json, copy) = (state.to_json(), copy.clone());
        self.write_in("removing a parked message", session, move |db, session| {
            let written = state::replace(db, session, &json, expected)?;
            if written.is_some() {
                parked::remove(db, session, &copy)?;
            }
            Ok(outcome(written))
        })
        .await
    }
}

fn outcome(written: Option<StateVersion>) -> Cas {
    written.map_or(Cas::Conflict, Cas::Written)
}

fn versioned(
    session: &SessionId,
    (version, json): StoredState,
) -> Result<VersionedState, TransportError> {
    let state = SessionState::from_json(json.as_bytes())
        .map_err(|problem| error::unreadable("the state", "nimbus_session", session, problem))?;
    Ok(VersionedState {
        state,
        version: StateVersion(version),
    })
}

impl fmt::Debug for SqliteSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SqliteSessions")
            .field("path", &self.tables.database().path())
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
