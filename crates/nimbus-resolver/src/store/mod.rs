//! Events and their history in one SQLite file.

mod apply;
mod filter;
mod fold;
mod purge;
mod query;
mod rows;
mod schema;

use std::fmt;
use std::path::Path;

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::MessageType;
use nimbus_sqlite::rusqlite::{self, Transaction};
use nimbus_sqlite::{Database, OpenOptions};

pub use apply::Applied;
pub use filter::EventFilter;
pub use fold::state_after;
pub use purge::Purged;
pub use query::{Cursor, EventPage, MessageTrace, StateCount};
pub use rows::{EventRecord, HistoryEntry};

use crate::{EventKey, Report, ResolverError};

/// What became of every event, in one SQLite file of its own.
///
/// Several processes of one machine can share the file: one that [runs](crate::Resolver), and any
/// number that look. Cheap to clone; clones share the file and its threads.
#[derive(Clone)]
pub struct ResolverStore {
    database: Database,
}

impl ResolverStore {
    /// Opens the file at `path`, and makes it and its tables if they aren't there. Its directory
    /// must exist.
    ///
    /// # Errors
    ///
    /// A configuration error when the place can't be written or the file is something else; a
    /// transient one when other processes keep it locked.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may leave the file behind, with all tables or none.
    pub async fn open(path: impl AsRef<Path>) -> Result<Self, ResolverError> {
        Self::open_with(path, OpenOptions::default()).await
    }

    /// Opens a file that a [`Resolver`](crate::Resolver) keeps, and makes neither it nor its tables:
    /// whoever only looks would take an empty one at a wrong path for a world without trouble.
    ///
    /// # Errors
    ///
    /// A configuration error when the file or a table isn't there, or is of another version; else
    /// as [`open`](Self::open).
    ///
    /// # Cancel safety
    ///
    /// Dropped, it has opened the file or not.
    pub async fn open_existing(path: impl AsRef<Path>) -> Result<Self, ResolverError> {
        let path = path.as_ref();
        if !path.exists() {
            return Err(ResolverError::configuration(format!(
                "there is no resolver database at {}; a resolver makes and fills it",
                path.display()
            )));
        }
        let opening = |error| ResolverError::store("opening it", error);
        let database = Database::open(path, OpenOptions::default()).await;
        let database = database.map_err(opening)?;
        database
            .verify_schema(schema::schema())
            .await
            .map_err(opening)?;
        Ok(Self { database })
    }

    /// As [`open`](Self::open), with options of the file.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    ///
    /// # Cancel safety
    ///
    /// As [`open`](Self::open).
    pub async fn open_with(
        path: impl AsRef<Path>,
        options: OpenOptions,
    ) -> Result<Self, ResolverError> {
        let opening = |error| ResolverError::store("opening it", error);
        let database = Database::open(path, options).await.map_err(opening)?;
        database
            .ensure_schema(schema::schema())
            .await
            .map_err(opening)?;
        Ok(Self { database })
    }

    /// The statements that create the tables. They tolerate to run again.
    #[must_use]
    pub fn ddl() -> String {
        schema::DDL.to_owned()
    }

    /// The path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.database.path()
    }

    /// Keeps reports and moves their events, all of them or none; on the disk when it returns.
    ///
    /// Calls that come together share one commit. A report that was kept before changes nothing.
    ///
    /// # Errors
    ///
    /// [`ResolverError`]; the reports may have been kept all the same, and applying them again is
    /// right.
    ///
    /// # Cancel safety
    ///
    /// Once polled, it is done whole or not at all, dropped or not.
    pub async fn apply(&self, reports: Vec<Report>) -> Result<Vec<Applied>, ResolverError> {
        self.write("keeping outcomes", move |tx| {
            reports
                .iter()
                .map(|report| apply::apply(tx, report))
                .collect()
        })
        .await
    }

    /// Keeps that an operator's command about an event was sent, under its message id: a
    /// resubmission is pending until it is answered, any other command is noted.
    ///
    /// # Errors
    ///
    /// As [`apply`](Self::apply).
    ///
    /// # Cancel safety
    ///
    /// As [`apply`](Self::apply).
    pub async fn note(
        &self,
        event: &EventKey,
        command: MessageType,
        message_id: String,
        sent_at: Timestamp,
    ) -> Result<Applied, ResolverError> {
        let report = Report::of_command(event.clone(), command, message_id, sent_at);
        let applied = self.apply(vec![report]).await?;
        Ok(applied.first().copied().unwrap_or(Applied::Ignored))
    }

    /// Events that match a filter, the last heard of first, from `after` on.
    ///
    /// # Errors
    ///
    /// [`ResolverError`].
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn events(
        &self,
        filter: EventFilter,
        after: Option<Cursor>,
        limit: u32,
    ) -> Result<EventPage, ResolverError> {
        self.read("listing events", move |tx| {
            query::page(tx, &filter, after, limit)
        })
        .await
    }

    /// Events that are known by `id`, on every endpoint or on one: as event id, or as message id
    /// where the event has none. With their content.
    ///
    /// # Errors
    ///
    /// [`ResolverError`].
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn find(
        &self,
        endpoint: Option<&str>,
        id: &str,
    ) -> Result<Vec<EventRecord>, ResolverError> {
        let (endpoint, id) = (endpoint.map(str::to_ascii_lowercase), id.to_owned());
        self.read("looking for an event", move |tx| {
            query::find(tx, endpoint.as_deref(), &id)
        })
        .await
    }

    /// One event, with its content.
    ///
    /// # Errors
    ///
    /// [`ResolverError`].
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn event(&self, key: &EventKey) -> Result<Option<EventRecord>, ResolverError> {
        let key = key.clone();
        self.read("reading an event", move |tx| query::event(tx, &key))
            .await
    }

    /// All that was reported of an event, in the order of arrival.
    ///
    /// # Errors
    ///
    /// [`ResolverError`].
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn history(&self, key: &EventKey) -> Result<Vec<HistoryEntry>, ResolverError> {
        let key = key.clone();
        self.read("reading an event's history", move |tx| {
            query::history(tx, &key)
        })
        .await
    }

    /// What was heard of the message `message_id` of an endpoint: of its own deliveries, and of
    /// what stood in for it.
    ///
    /// # Errors
    ///
    /// [`ResolverError`].
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn message(
        &self,
        endpoint: &str,
        message_id: &str,
    ) -> Result<Vec<MessageTrace>, ResolverError> {
        let (endpoint, id) = (endpoint.to_ascii_lowercase(), message_id.to_owned());
        self.read("looking for a message", move |tx| {
            query::message(tx, &endpoint, &id)
        })
        .await
    }

    /// How many events are in each state, by endpoint.
    ///
    /// # Errors
    ///
    /// [`ResolverError`].
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn counts(&self, filter: EventFilter) -> Result<Vec<StateCount>, ResolverError> {
        self.read("counting events", move |tx| query::counts(tx, &filter))
            .await
    }

    pub(crate) async fn write<T, F>(&self, what: &'static str, work: F) -> Result<T, ResolverError>
    where
        F: FnMut(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let written = self.database.write(work).await;
        written.map_err(|error| ResolverError::store(what, error))
    }

    async fn read<T, F>(&self, what: &'static str, work: F) -> Result<T, ResolverError>
    where
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let read = self.database.read(work).await;
        read.map_err(|error| ResolverError::store(what, error))
    }
}

impl fmt::Debug for ResolverStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ResolverStore")
            .field("path", &self.path())
            .finish()
    }
}
