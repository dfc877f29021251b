//! The contract, on top of the rows.

use std::fmt;
use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use deadpool_postgres::Pool;
use nimbus_inbox_core::{EndpointId, Error, Operation};
use nimbus_messaging::{
    Cas, ParkedCopy, ParkedRef, SessionId, SessionState, SessionStore, SessionStoreCapabilities,
    StateVersion, TransportError, VersionedState,
};
use tokio_postgres::Client;

use super::rows::{Rows, Session, StoredCopy, StoredState};
use super::{error, schema};
use crate::connection::PostgresConnection;
use crate::error::{Phase, Site, Verdict, verdict};
use crate::inbox::PostgresInbox;
use crate::options::PostgresInboxOptions;
use crate::pool::{self, Leased};
use crate::tables::Tables;

/// State and parked copies of one endpoint's sessions, in a PostgreSQL database.
///
/// For transports whose broker keeps no session state. A copy and the state that counts it change
/// in one statement. Endpoints share the tables and never see each other's sessions. The row of
/// a session's state stays for good: its version must never fall.
///
/// Cheap to clone; clones share the pool.
#[derive(Clone)]
pub struct PostgresSessions {
    shared: Arc<Shared>,
    endpoint: EndpointId,
}

struct Shared {
    pool: Pool,
    site: Site,
    tables: Tables,
    rows: Rows,
    schema: String,
}

impl PostgresSessions {
    /// The sessions of `endpoint` in the inbox's database and schema, on its connections.
    ///
    /// Missing tables are created at the first use if those of the inbox are.
    #[must_use]
    pub fn beside(inbox: &PostgresInbox, endpoint: EndpointId) -> Self {
        let records = &inbox.records;
        let (pool, server) = (records.pool().clone(), records.site().server.clone());
        Self::within(pool, server, records.options(), endpoint)
    }

    /// The sessions of `endpoint` in the database that `connection` names.
    ///
    /// Of `options`, those of the inbox's table and of batching are not used.
    ///
    /// # Errors
    ///
    /// A configuration error when the connection can't be used as it is given.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has done nothing.
    pub async fn open_with(
        connection: PostgresConnection,
        options: PostgresInboxOptions,
        endpoint: EndpointId,
    ) -> Result<Self, Error> {
        let (pool, server) = pool::open(&connection, &options).await?;
        Ok(Self::within(pool, server, &options, endpoint))
    }

    fn within(
        pool: Pool,
        server: String,
        options: &PostgresInboxOptions,
        endpoint: EndpointId,
    ) -> Self {
        let schema = options.table.schema().to_owned();
        let mut command = "cargo xtask provision --postgres-sessions URL".to_owned();
        if schema != PostgresInboxOptions::default().table.schema() {
            command = format!("{command} --schema {schema}");
        }
        let shared = Shared {
            pool,
            site: Site {
                server,
                tables: format!("{schema}.session_states or {schema}.session_parked"),
                command,
            },
            tables: Tables::new(schema::layout(&schema), options.auto_create),
            rows: Rows::new(&schema),
            schema,
        };
        Self {
            shared: Arc::new(shared),
            endpoint,
        }
    }

    /// Makes sure before the first message that the tables are there.
    ///
    /// # Errors
    ///
    /// A configuration error when they are missing or can't be used, a transient one when the
    /// server can't be reached.
    ///
    /// # Cancel safety
    ///
    /// Dropped, all tables were created or none.
    pub async fn verify(&self) -> Result<(), TransportError> {
        const WHAT: &str = "looking for its tables";
        let Shared { pool, site, .. } = &*self.shared;
        let found = self.shared.tables.look(pool).await;
        found.map_err(|unusable| error::unusable(site, WHAT, unusable))?;
        let nobody = Session::new(self.endpoint.as_str(), "");
        let rehearsal = self.call(WHAT, async |client, rows| {
            rows.read(client, &nobody).await?;
            rows.list(client, &nobody, 1).await.map(drop)
        });
        rehearsal.await
    }

    /// The statements that create the tables in `schema`, in order. They tolerate to run again.
    ///
    /// # Errors
    ///
    /// As [`PostgresInboxOptions::with_schema`].
    pub fn ddl(schema: &str) -> Result<String, Error> {
        let options = PostgresInboxOptions::default().with_schema(schema)?;
        Ok(schema::ddl(options.table.schema()))
    }

    /// The statements that let a role use the tables in `schema`, and do nothing else with them.
    ///
    /// # Errors
    ///
    /// As [`PostgresInboxOptions::with_schema`].
    pub fn grants(schema: &str, role: &str) -> Result<String, Error> {
        let options = PostgresInboxOptions::default().with_schema(schema)?;
        Ok(schema::grants(options.table.schema(), role))
    }

    async fn call<T>(
        &self,
        what: &str,
        call: impl AsyncFnOnce(&Client, &Rows) -> Result<T, tokio_postgres::Error>,
    ) -> Result<T, TransportError> {
        let Shared {
            pool,
            site,
            tables,
            rows,
            ..
        } = &*self.shared;
        let ready = tables.ensure(pool).await;
        ready.map_err(|unusable| error::unusable(site, what, unusable))?;
        let leased = Leased::from(pool).await;
        let mut leased = leased
            .map_err(|gone| error::from_inbox(what, site.no_connection(Operation::Open, gone)))?;
        let answer = leased.run(async |client| call(client, rows).await).await;
        answer.map_err(|error| {
            if verdict(&error, Phase::Reading) == Verdict::Missing {
                tables.missed();
            }
            error::failed(site, what, error)
        })
    }

    fn session(&self, id: &SessionId) -> Session {
        Session::new(self.endpoint.as_str(), id.as_str())
    }

    fn versioned(
        &self,
        session: &SessionId,
        (version, json): StoredState,
    ) -> Result<VersionedState, TransportError> {
        let state = SessionState::from_json(json.as_bytes()).map_err(|problem| {
            let table = format!("{}.session_states", self.shared.schema);
            error::unreadable("the state", &table, session, problem)
        })?;
        Ok(VersionedState {
            state,
            version: StateVersion(version),
        })
    }
}

#[async_trait]
impl SessionStore for PostgresSessions {
    fn capabilities(&self) -> SessionStoreCapabilities {
        SessionStoreCapabilities { atomic: true }
    }

    async fn fence(&self, session: &SessionId) -> Result<VersionedState, TransportError> {
        let row = self.session(session);
        let stored = self
            .call("fencing a session", async |client, rows| {
                rows.fence(client, &row).await
            })
            .await?;
        self.versioned(session, stored)
    }

    async fn read(&self, session: &SessionId) -> Result<VersionedState, TransportError> {
        let row = self.session(session);
        let stored = self
            .call("reading a session's state", async |client, rows| {
                rows.read(client, &row).await
            })
            .await?;
        self.versioned(session, stored)
    }

    async fn write(
        &self,
        session: &SessionId,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let (row, json) = (self.session(session), state.to_json());
        self.call("writing a session's state", async |client, rows| {
            rows.write(client, &row, &json, expected).await
        })
        .await
        .map(outcome)
    }

    async fn park(
        &self,
        session: &SessionId,
        copy: &ParkedCopy,
        state: &SessionState,
        expected: StateVersion,
    ) -> Result<Cas, TransportError> {
        let (row, json) = (self.session(session), state.to_json());
        let copy = StoredCopy {
            reference: copy.reference.clone(),
            envelope: copy.envelope_json(),
            body: copy.envelope.body.to_vec(),
        };
        self.call("parking a message", async |client, rows| {
            rows.park(client, &row, (&json, expected), &copy).await
        })
        .await
        .map(outcome)
    }

    async fn parked(
        &self,
        session: &SessionId,
        limit: NonZeroU32,
    ) -> Result<Vec<ParkedCopy>, TransportError> {
        let row = self.session(session);
        let stored = self
            .call("reading parked messages", async |client, rows| {
                rows.list(client, &row, limit.get()).await
            })
            .await?;
        stored
            .into_iter()
            .map(|copy| {
                let what = format!("the parked copy {:?}", copy.reference.id);
                ParkedCopy::restored(copy.reference, &copy.envelope, copy.body).map_err(|problem| {
                    let table = format!("{}.session_parked", self.shared.schema);
                    error::unreadable(&what, &table, session, problem)
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
        let (row, json) = (self.session(session), state.to_json());
        self.call("removing a parked message", async |client, rows| {
            rows.unpark(client, &row, (&json, expected), copy).await
        })
        .await
        .map(outcome)
    }
}

fn outcome(written: Option<StateVersion>) -> Cas {
    written.map_or(Cas::Conflict, Cas::Written)
}

impl fmt::Debug for PostgresSessions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresSessions")
            .field("server", &self.shared.site.server)
            .field("schema", &self.shared.schema)
            .field("endpoint", &self.endpoint)
            .finish_non_exhaustive()
    }
}
