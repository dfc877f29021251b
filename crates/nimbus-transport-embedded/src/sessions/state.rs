use nimbus_messaging::{SessionId, SessionState, StateVersion, TransportError, VersionedState};
use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension};

use crate::address::QueueId;
use crate::line::Held;

/// A version and the JSON it stands for; version 0 and nothing for a fresh session.
pub(crate) type StoredState = (i64, String);

/// Whether `held` is the lock of that very session, and holds.
pub(super) fn is_locked(
    db: &Connection,
    queue: QueueId,
    session: &SessionId,
    held: Held,
    now: i64,
) -> rusqlite::Result<bool> {
    db.prepare_cached(
        "select 1 from nimbus_queue_lane
         where lane = ?1 and lock_token = ?2 and locked_until > ?3
           and queue = ?4 and session = ?5",
    )?
    .exists((held.lane, held.token, now, queue.0, session.as_str()))
}

pub(crate) fn read(
    db: &Connection,
    queue: QueueId,
    session: &SessionId,
) -> rusqlite::Result<StoredState> {
    let stored = db
        .prepare_cached(
            "select version, state from nimbus_queue_session where queue = ?1 and session = ?2",
        )?
        .query_row((queue.0, session.as_str()), |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    Ok(stored.unwrap_or_default())
}

/// Raises the version.
pub(super) fn fence(
    db: &Connection,
    queue: QueueId,
    session: &SessionId,
) -> rusqlite::Result<StoredState> {
    db.prepare_cached(
        "insert into nimbus_queue_session (queue, session, version, state) values (?1, ?2, 1, '')
         on conflict (queue, session) do update set version = version + 1
         returning version, state",
    )?
    .query_row((queue.0, session.as_str()), |row| {
        Ok((row.get(0)?, row.get(1)?))
    })
}

/// Replaces the state if its version is still `expected`; the new version, or none.
pub(super) fn replace(
    db: &Connection,
    queue: QueueId,
    session: &SessionId,
    json: &str,
    expected: StateVersion,
) -> rusqlite::Result<Option<StateVersion>> {
    if read(db, queue, session)?.0 != expected.0 {
        return Ok(None);
    }
    db.prepare_cached(
        "insert into nimbus_queue_session (queue, session, version, state)
         values (?1, ?2, ?3 + 1, ?4)
         on conflict (queue, session) do update
         set version = excluded.version, state = excluded.state
         returning version",
    )?
    .query_row((queue.0, session.as_str(), expected.0, json), |row| {
        row.get(0).map(|version| Some(StateVersion(version)))
    })
}

/// Reads the JSON.
///
/// # Errors
///
/// A configuration error when it is not a session's state: someone has to look at it.
pub(crate) fn versioned(
    session: &SessionId,
    (version, json): StoredState,
) -> Result<VersionedState, TransportError> {
    let state = SessionState::from_json(json.as_bytes()).map_err(|problem| {
        TransportError::configuration(format!(
            "the state that the embedded queue holds for session {session:?} is not readable; \
             correct or delete its row in nimbus_queue_session"
        ))
        .with_source(problem)
    })?;
    Ok(VersionedState {
        state,
        version: StateVersion(version),
    })
}
