//! The versioned state of a session.

use nimbus_messaging::StateVersion;
use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension, Row};

use super::store::Session;

/// A version and the JSON it stands for: version 0 and nothing for a fresh session.
pub(super) type StoredState = (i64, String);

pub(super) fn read(db: &Connection, session: &Session) -> rusqlite::Result<StoredState> {
    let stored = db
        .prepare_cached(
            "select version, state from nimbus_session
             where endpoint_id = ?1 and session_id = ?2",
        )?
        .query_row(session.names(), stored)
        .optional()?;
    Ok(stored.unwrap_or_default())
}

/// Raises the version.
pub(super) fn fence(db: &Connection, session: &Session) -> rusqlite::Result<StoredState> {
    let (endpoint, id) = session.names();
    db.prepare_cached(
        "insert into nimbus_session (endpoint_id, session_id, version, state)
         values (?1, ?2, 1, '')
         on conflict (endpoint_id, session_id) do update set version = version + 1
         returning version, state",
    )?
    .query_row((endpoint, id), stored)
}

/// Replaces the state if its version is still `expected`; the new version, or none.
pub(super) fn replace(
    db: &Connection,
    session: &Session,
    json: &str,
    expected: StateVersion,
) -> rusqlite::Result<Option<StateVersion>> {
    if read(db, session)?.0 != expected.0 {
        return Ok(None);
    }
    let (endpoint, id) = session.names();
    db.prepare_cached(
        "insert into nimbus_session (endpoint_id, session_id, version, state)
         values (?1, ?2, ?3 + 1, ?4)
         on conflict (endpoint_id, session_id) do update
         set version = excluded.version, state = excluded.state
         returning version",
    )?
    .query_row((endpoint, id, expected.0, json), |row| {
        row.get(0).map(|version| Some(StateVersion(version)))
    })
}

fn stored(row: &Row<'_>) -> rusqlite::Result<StoredState> {
    Ok((row.get(0)?, row.get(1)?))
}
