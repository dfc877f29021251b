//! From a path to a connection that is set up and known to be ours.

use std::path::{self, Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use crate::error::{ErrorKind, SqliteError};
use crate::lock::while_busy;
use crate::options::{Durability, OpenOptions};
use crate::site::Site;

const OPERATION: &str = "opening";

/// "NIMB", in the header of each file that this crate created.
const APPLICATION_ID: i32 = 0x4e49_4d42;

/// After a burst the log shrinks to this many bytes again.
const LOG_SIZE_LIMIT: u32 = 64 * 1024 * 1024;

/// Enough for all statements of an inbox and a queue that share a file.
const CACHED_STATEMENTS: usize = 64;

/// What a connection may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    Read,
    Write,
}

/// The absolute path of a file that can hold a durable store.
///
/// Absolute, because connections are opened later too, and because then neither
/// SQLite's names for in-memory databases nor its URIs can be meant.
pub(crate) fn durable_path(path: &Path) -> Result<Arc<Path>, SqliteError> {
    let refused = |detail: &'static str| {
        SqliteError::new(ErrorKind::InvalidPath, OPERATION, &Arc::from(path)).with_detail(detail)
    };
    match path.to_str() {
        Some("") => return Err(refused("the path is empty")),
        Some(":memory:") => return Err(refused("a durable store can't be kept in memory")),
        Some(text) if text.starts_with("file:") => return Err(refused("the path is a URI")),
        _ => {}
    }
    path::absolute(path)
        .map(PathBuf::into)
        .map_err(|_| refused("the working directory is unknown; give an absolute path"))
}

/// The first connection: makes the file if it isn't there, checks whose it is,
/// and puts it into WAL mode.
pub(crate) fn create(site: &Site, options: &OpenOptions) -> Result<Connection, SqliteError> {
    refuse_old_library(site, rusqlite::version_number())?;
    refuse_device(site)?;
    let connection = connect(site, options, OpenFlags::SQLITE_OPEN_CREATE)?;
    let error = |source| site.error(source, OPERATION, &connection);
    if connection.is_readonly("main").map_err(error)? {
        return Err(site.fault(ErrorKind::ReadOnly, OPERATION));
    }
    claim(&connection, site)?;
    enter_wal_mode(&connection, site, options.busy_timeout)?;
    configure(&connection, options, Access::Write).map_err(error)?;
    Ok(connection)
}

/// One more connection to a file that [`create`] has seen.
pub(crate) fn another(
    site: &Site,
    options: &OpenOptions,
    access: Access,
) -> Result<Connection, SqliteError> {
    let connection = connect(site, options, OpenFlags::empty())?;
    configure(&connection, options, access)
        .map_err(|source| site.error(source, OPERATION, &connection))?;
    Ok(connection)
}

fn connect(
    site: &Site,
    options: &OpenOptions,
    extra: OpenFlags,
) -> Result<Connection, SqliteError> {
    // A connection never leaves its thread, so SQLite needn't lock it.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX | extra;
    let connection = Connection::open_with_flags(site.path(), flags)
        .map_err(|source| SqliteError::from_driver(source, OPERATION, site.path()))?;
    connection
        .busy_timeout(options.busy_timeout)
        .map_err(|source| site.error(source, OPERATION, &connection))?;
    Ok(connection)
}

/// SQLite opens a device or a pipe like a file, leaves a journal beside it and
/// then fails as if the disk did, which would be tried again for ever.
fn refuse_device(site: &Site) -> Result<(), SqliteError> {
    match site.path().metadata() {
        Ok(found) if !found.is_file() && !found.is_dir() => Err(site
            .fault(ErrorKind::CannotOpen, OPERATION)
            .with_detail("it is a device, a pipe or a socket")),
        // What isn't there, or can't be looked at, is SQLite's to judge.
        _ => Ok(()),
    }
}

/// Up to 3.51.2, a checkpoint that races with a restart of the log can lose
/// committed pages. The fix was carried into two older lines.
fn refuse_old_library(site: &Site, version: i32) -> Result<(), SqliteError> {
    let is_sound = version >= 3_051_003 || matches!(version, 3_044_006 | 3_050_007);
    if is_sound {
        return Ok(());
    }
    let (major, minor, patch) = (version / 1_000_000, version / 1000 % 1000, version % 1000);
    Err(site
        .fault(ErrorKind::OldLibrary, OPERATION)
        .with_detail(format!("linked is {major}.{minor}.{patch}")))
}

/// Refuses another application's file before anything is written to it, and
/// marks a fresh one as ours. A database with tables and without an id is its
/// owner's, who keeps our tables beside theirs: it stays unmarked.
fn claim(connection: &Connection, site: &Site) -> Result<(), SqliteError> {
    let error = |source| site.error(source, OPERATION, connection);
    if owner(connection).map_err(error)? == Owner::Nobody {
        let tx = rusqlite::Transaction::new_unchecked(connection, TransactionBehavior::Immediate)
            .map_err(error)?;
        // Somebody may have come first while this one waited for the lock.
        if owner(&tx).map_err(error)? == Owner::Nobody {
            tx.execute_batch(&format!("PRAGMA application_id = {APPLICATION_ID}"))
                .map_err(error)?;
        }
        tx.commit().map_err(error)?;
    }
    match owner(connection).map_err(error)? {
        Owner::Nobody | Owner::Us | Owner::User => Ok(()),
        Owner::Foreign(id) => Err(site
            .fault(ErrorKind::ForeignFile, OPERATION)
            .with_detail(format!("its application_id is {id:#010x}"))),
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Owner {
    Nobody,
    Us,
    User,
    Foreign(i32),
}

fn owner(connection: &Connection) -> rusqlite::Result<Owner> {
    let id: i32 = connection.query_row("PRAGMA application_id", (), |row| row.get(0))?;
    Ok(match id {
        APPLICATION_ID => Owner::Us,
        0 if connection
            .prepare("select 1 from sqlite_schema")?
            .exists(())? =>
        {
            Owner::User
        }
        0 => Owner::Nobody,
        id => Owner::Foreign(id),
    })
}

/// Where several processes open a fresh file at once, SQLite gives up on this
/// change at the first lock it meets, whatever its busy timeout.
fn enter_wal_mode(
    connection: &Connection,
    site: &Site,
    patience: Duration,
) -> Result<(), SqliteError> {
    let deadline = Instant::now() + patience;
    let change = || connection.query_row("PRAGMA journal_mode = WAL", (), |row| row.get(0));
    let mode: String = while_busy(deadline, || true, change)
        .map_err(|source| site.error(source, OPERATION, connection))?;
    if mode.eq_ignore_ascii_case("wal") {
        // The log itself is opened by the first read. Without it this connection
        // wouldn't be there when the others are closed, nor fold the log in.
        return connection
            .query_row("PRAGMA schema_version", (), |_| Ok(()))
            .map_err(|source| site.error(source, OPERATION, connection));
    }
    Err(site.fault(ErrorKind::CannotOpen, OPERATION).with_detail(format!(
        "the file stays in journal mode {mode}; WAL mode needs a local file system with shared memory"
    )))
}

fn configure(
    connection: &Connection,
    options: &OpenOptions,
    access: Access,
) -> rusqlite::Result<()> {
    let synchronous = match options.durability {
        Durability::Full => "FULL",
        Durability::Normal => "NORMAL",
    };
    connection.execute_batch(&format!(
        "PRAGMA synchronous = {synchronous};
         PRAGMA foreign_keys = ON;
         PRAGMA journal_size_limit = {LOG_SIZE_LIMIT};"
    ))?;
    if options.durability == Durability::Full {
        // On macOS a plain sync leaves data in the drive's cache.
        connection.execute_batch("PRAGMA fullfsync = ON; PRAGMA checkpoint_fullfsync = ON;")?;
    }
    if let Some(pages) = options.max_pages {
        connection.execute_batch(&format!("PRAGMA max_page_count = {pages}"))?;
    }
    connection.set_prepared_statement_cache_capacity(CACHED_STATEMENTS);
    match access {
        Access::Read => connection.execute_batch("PRAGMA query_only = ON"),
        // Whoever begins a write transaction waits for it in its own way.
        Access::Write => connection.busy_timeout(Duration::ZERO),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_libraries_with_the_fix_are_accepted() {
        let site = Site::new(Arc::from(Path::new("/data/inbox.db")));
        for sound in [3_044_006, 3_050_007, 3_051_003, 3_054_001] {
            assert!(refuse_old_library(&site, sound).is_ok(), "{sound}");
        }
        for broken in [3_044_005, 3_044_007, 3_050_006, 3_051_002] {
            let error = refuse_old_library(&site, broken).expect_err("broken");
            assert_eq!(error.kind(), ErrorKind::OldLibrary, "{broken}");
        }
    }

    #[test]
    fn paths_that_are_not_files_are_refused() {
        for path in [
            "",
            ":memory:",
            "file:inbox.db",
            "file::memory:?cache=shared",
        ] {
            let error = durable_path(Path::new(path)).expect_err(path);
            assert_eq!(error.kind(), ErrorKind::InvalidPath, "{path}");
            assert!(error.is_configuration());
        }
    }

    #[test]
    fn a_relative_path_becomes_absolute() {
        let path = durable_path(Path::new("inbox.db")).expect("a plain path");
        assert!(path.is_absolute() && path.ends_with("inbox.db"), "{path:?}");
    }
}
