//! A session store in a directory of its own, and what its tests say in a word.

use std::path::{Path, PathBuf};

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_sqlite::rusqlite::Connection;
use nimbus_inbox_sqlite::{Database, OpenOptions, SqliteSessions};
use nimbus_messaging::{Cas, Envelope, ParkedCopy, ParkedRef, SessionId, StateVersion};
use tempfile::TempDir;

pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) database: Database,
    pub(crate) sessions: SqliteSessions,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let database = Database::open(directory.path().join("queue.db"), OpenOptions::default())
            .await
            .expect("a fresh file");
        let sessions = SqliteSessions::new(database.clone(), endpoint("Billing"));
        Self {
            directory,
            database,
            sessions,
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("queue.db")
    }
}

pub(crate) fn endpoint(name: &str) -> EndpointId {
    EndpointId::new(name).expect("usable")
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("not empty")
}

pub(crate) fn copy(sequence: i64, id: &str, body: &'static str) -> ParkedCopy {
    let envelope = Envelope {
        message_id: Some(id.to_owned()),
        body: body.into(),
        ..Envelope::default()
    };
    ParkedCopy {
        reference: ParkedRef {
            sequence,
            id: id.to_owned(),
            generation: 0,
        },
        envelope,
    }
}

pub(crate) fn written(cas: Cas) -> StateVersion {
    match cas {
        Cas::Written(version) => version,
        Cas::Conflict => panic!("a conflict where nobody else writes"),
    }
}

pub(crate) fn stranger(path: &Path) -> Connection {
    Connection::open(path).expect("the file exists")
}
