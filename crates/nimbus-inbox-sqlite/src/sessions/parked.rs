//! The copies that a session has set aside.

use nimbus_messaging::ParkedRef;
use nimbus_sqlite::rusqlite::{self, Connection};

use super::store::Session;

/// A copy as it stands in its row.
#[derive(Debug)]
pub(super) struct StoredCopy {
    pub(super) reference: ParkedRef,
    pub(super) envelope: String,
    pub(super) body: Vec<u8>,
}

/// Keeps a copy; the same sequence and id again keeps one and raises its generation.
pub(super) fn keep(db: &Connection, session: &Session, copy: &StoredCopy) -> rusqlite::Result<()> {
    let (endpoint, id) = session.names();
    db.prepare_cached(
        "insert into nimbus_session_parked
             (endpoint_id, session_id, sequence, copy_id, generation, envelope, body)
         values (?1, ?2, ?3, ?4, 0, ?5, ?6)
         on conflict (endpoint_id, session_id, sequence, copy_id) do update
         set generation = generation + 1, envelope = excluded.envelope, body = excluded.body",
    )?
    .execute((
        endpoint,
        id,
        copy.reference.sequence,
        &copy.reference.id,
        &copy.envelope,
        &copy.body,
    ))
    .map(drop)
}

/// Removes a copy if it is still of that generation (SUB-18).
pub(super) fn remove(
    db: &Connection,
    session: &Session,
    reference: &ParkedRef,
) -> rusqlite::Result<()> {
    let (endpoint, id) = session.names();
    db.prepare_cached(
        "delete from nimbus_session_parked
         where endpoint_id = ?1 and session_id = ?2 and sequence = ?3 and copy_id = ?4
           and generation = ?5",
    )?
    .execute((
        endpoint,
        id,
        reference.sequence,
        &reference.id,
        reference.generation,
    ))
    .map(drop)
}

/// The first copies, ordered by sequence, then id.
pub(super) fn list(
    db: &Connection,
    session: &Session,
    limit: u32,
) -> rusqlite::Result<Vec<StoredCopy>> {
    let (endpoint, id) = session.names();
    db.prepare_cached(
        "select sequence, copy_id, generation, envelope, body from nimbus_session_parked
         where endpoint_id = ?1 and session_id = ?2
         order by sequence, copy_id limit ?3",
    )?
    .query_map((endpoint, id, limit), |row| {
        Ok(StoredCopy {
            reference: ParkedRef {
                sequence: row.get(0)?,
                id: row.get(1)?,
                generation: row.get(2)?,
            },
            envelope: row.get(3)?,
            body: row.get(4)?,
        })
    })?
    .collect()
}
