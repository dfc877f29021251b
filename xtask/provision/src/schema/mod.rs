//! What a file has to hold, and what it holds.

mod difference;
mod missing;
mod shape;

use std::path::Path;

use anyhow::anyhow;
use nimbus_inbox_sqlite::{SqliteInboxOptions, SqliteSessions};
use nimbus_resolver::ResolverStore;
use nimbus_sqlite::rusqlite::{self, Connection, ErrorCode, OpenFlags};

pub(crate) use self::difference::Difference;
pub(crate) use self::missing::{Missing, missing};
use self::shape::Shape;

/// Tables that belong together.
#[derive(Clone)]
pub(crate) struct Part {
    /// What they are, and the name of their script.
    pub(crate) name: &'static str,
    pub(crate) ddl: String,
}

impl Part {
    /// The table of the SQLite inbox.
    pub(crate) fn inbox(options: &SqliteInboxOptions) -> Self {
        Self {
            name: "inbox",
            ddl: options.ddl(),
        }
    }

    /// The tables of the SQLite session store.
    pub(crate) fn sessions() -> Self {
        Self {
            name: "sessions",
            ddl: SqliteSessions::ddl(),
        }
    }

    /// The tables of the embedded transport.
    pub(crate) fn embedded_queue() -> Self {
        Self {
            name: "embedded-queue",
            ddl: nimbus_transport_embedded::ddl(),
        }
    }

    /// The tables of the resolver.
    pub(crate) fn resolver() -> Self {
        Self {
            name: "resolver",
            ddl: ResolverStore::ddl(),
        }
    }

    /// A database in memory that holds what is needed.
    fn needed(&self) -> rusqlite::Result<Connection> {
        let needed = Connection::open_in_memory()?;
        needed.execute_batch(&self.ddl)?;
        Ok(needed)
    }
}

/// How the file at `path` differs from what `part` needs.
pub(crate) fn differences(path: &Path, part: &Part) -> anyhow::Result<Vec<Difference>> {
    // Not read-only, with which SQLite would leave a log beside the file.
    let live = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        .map_err(can_not_open)?;
    live.execute_batch("PRAGMA query_only = ON")?;
    Ok(difference::between(
        &Shape::of(&part.needed()?)?,
        &Shape::of(&live)?,
    ))
}

/// SQLite's own text names only the path, which the caller does too.
fn can_not_open(error: rusqlite::Error) -> anyhow::Error {
    if error.sqlite_error_code() == Some(ErrorCode::CannotOpen) {
        anyhow!("this user may not read and write it")
    } else {
        error.into()
    }
}
