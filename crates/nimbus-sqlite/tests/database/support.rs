//! A database in a directory of its own, and ways to hold its writer still.

use std::path::PathBuf;
use std::pin::{Pin, pin};
use std::sync::mpsc;
use std::task::{Context, Waker};

use nimbus_sqlite::rusqlite::{self, Connection, Transaction};
use nimbus_sqlite::{Database, OpenOptions, Schema, SqliteError};
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) database: Database,
    pub(crate) directory: TempDir,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        Self::with(OpenOptions::default()).await
    }

    /// Holds a table `item`, whose names are unique.
    pub(crate) async fn with(options: OpenOptions) -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let database = Database::open(directory.path().join("test.db"), options)
            .await
            .expect("a fresh file");
        database.ensure_schema(items()).await.expect("a fresh file");
        Self {
            database,
            directory,
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("test.db")
    }

    /// A connection of somebody else.
    pub(crate) fn stranger(&self) -> Connection {
        Connection::open(self.path()).expect("the file exists")
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        self.database.read(names).await.expect("the table exists")
    }
}

pub(crate) fn items() -> Schema {
    Schema::new("items").with_table("item").with_step(
        "create table if not exists item (name text not null primary key, payload blob) strict",
    )
}

pub(crate) fn names(tx: &Transaction<'_>) -> rusqlite::Result<Vec<String>> {
    tx.prepare("select name from item order by name")?
        .query_map((), |row| row.get(0))?
        .collect()
}

pub(crate) fn insert(tx: &Transaction<'_>, name: &str) -> rusqlite::Result<usize> {
    tx.prepare_cached("insert into item (name) values (?1)")?
        .execute([name])
}

pub(crate) fn insert_bytes(
    tx: &Transaction<'_>,
    name: &str,
    bytes: usize,
) -> rusqlite::Result<usize> {
    tx.execute(
        "insert into item (name, payload) values (?1, zeroblob(?2))",
        (name, i64::try_from(bytes).expect("small")),
    )
}

pub(crate) type Queued<T> = Pin<Box<dyn Future<Output = Result<T, SqliteError>> + Send>>;

/// Polls `future` once: what it asks for is queued when this returns.
pub(crate) fn queue<T>(
    future: impl Future<Output = Result<T, SqliteError>> + Send + 'static,
) -> Queued<T> {
    let mut future: Queued<T> = Box::pin(future);
    assert!(
        future
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
            .is_pending(),
        "answered at once"
    );
    future
}

/// Polls `future` once and drops it, whether or not it was answered by then.
pub(crate) fn start_and_drop(future: impl Future) {
    let _ = pin!(future).poll(&mut Context::from_waker(Waker::noop()));
}

/// Queues the insertion of `name`.
pub(crate) fn queue_insert(database: &Database, name: &'static str) -> Queued<usize> {
    let database = database.clone();
    queue(async move { database.write(move |tx| insert(tx, name)).await })
}

/// The writer's thread, held inside a write, with its transaction open.
pub(crate) struct HeldWriter {
    release: mpsc::Sender<()>,
    write: Queued<()>,
}

impl HeldWriter {
    pub(crate) fn new(database: &Database) -> Self {
        let (started, is_started) = mpsc::channel();
        let (release, is_released) = mpsc::channel::<()>();
        let database = database.clone();
        let write = queue(async move {
            database
                .write(move |_| {
                    started.send(()).expect("somebody holds the writer");
                    is_released.recv().expect("somebody holds the writer");
                    Ok(())
                })
                .await
        });
        is_started.recv().expect("the writer runs");
        Self { release, write }
    }

    pub(crate) async fn release(self) {
        self.release.send(()).expect("the writer waits");
        self.write.await.expect("an empty write");
    }
}
