//! What a file has to hold, and what it holds.

mod difference;
mod shape;

use std::path::Path;

use nimbus_inbox_sqlite::{SqliteInboxOptions, SqliteSessions};
use nimbus_sqlite::rusqlite::{Connection, OpenFlags};

pub(crate) use self::difference::Difference;
use self::shape::Shape;

/// Tables that belong together.
pub(crate) struct Part {
    /// What they are, and the name of their script.
    pub(crate) name: &'static str,
    pub(crate) ddl: String,
}

/// The tables of the SQLite provider.
pub(crate) fn sqlite(options: &SqliteInboxOptions) -> Vec<Part> {
    vec![
        Part {
            name: "inbox",
            ddl: options.ddl(),
        },
        Part {
            name: "sessions",
            ddl: SqliteSessions::ddl(),
        },
    ]
}

/// The tables of the embedded transport.
pub(crate) fn embedded() -> Vec<Part> {
    vec![Part {
        name: "embedded-queue",
        ddl: nimbus_transport_embedded::ddl(),
    }]
}

/// How the file at `path` differs from what `parts` need.
pub(crate) fn differences(path: &Path, parts: &[Part]) -> anyhow::Result<Vec<Difference>> {
    let needed = Connection::open_in_memory()?;
    for part in parts {
        needed.execute_batch(&part.ddl)?;
    }
    // Not read-only, with which SQLite would leave a log beside the file.
    let live = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    live.execute_batch("PRAGMA query_only = ON")?;
    Ok(difference::between(
        &Shape::of(&needed)?,
        &Shape::of(&live)?,
    ))
}
