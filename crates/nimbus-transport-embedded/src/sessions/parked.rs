use nimbus_messaging::{ParkedCopy, ParkedRef, SessionId};
use nimbus_sqlite::rusqlite::{self, Connection, params};

use crate::address::QueueId;
use crate::message::{COLUMNS, PLACEHOLDERS, StoredEnvelope, read_envelope};

/// Keeps a copy; the same sequence and id again keeps one and raises its generation.
pub(super) fn keep(
    db: &Connection,
    queue: QueueId,
    session: &SessionId,
    reference: &ParkedRef,
    message: &StoredEnvelope,
) -> rusqlite::Result<()> {
    db.prepare_cached(&format!(
        "insert into nimbus_queue_parked (queue, session, sequence, id, {COLUMNS})
         values (:queue, :session, :sequence, :id, {PLACEHOLDERS})
         on conflict (queue, session, sequence, id) do update
         set generation = generation + 1"
    ))?
    .execute(&*message.bind(&[
        (":queue", &queue.0),
        (":session", &session.as_str()),
        (":sequence", &reference.sequence),
        (":id", &reference.id),
    ]))
    .map(drop)
}

/// Removes a copy if it is still of that generation.
pub(super) fn remove(
    db: &Connection,
    queue: QueueId,
    session: &SessionId,
    reference: &ParkedRef,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "delete from nimbus_queue_parked
         where queue = ?1 and session = ?2 and sequence = ?3 and id = ?4 and generation = ?5",
    )?
    .execute(params![
        queue.0,
        session.as_str(),
        reference.sequence,
        reference.id,
        reference.generation
    ])
    .map(drop)
}

/// The first copies, ordered by sequence, then id.
pub(crate) fn list(
    db: &Connection,
    queue: QueueId,
    session: &SessionId,
    limit: u32,
) -> rusqlite::Result<Vec<ParkedCopy>> {
    db.prepare_cached(&format!(
        "select sequence, id, generation, {COLUMNS} from nimbus_queue_parked
         where queue = ?1 and session = ?2 order by sequence, id limit ?3"
    ))?
    .query_map((queue.0, session.as_str(), limit), |row| {
        Ok(ParkedCopy {
            reference: ParkedRef {
                sequence: row.get(0)?,
                id: row.get(1)?,
                generation: row.get(2)?,
            },
            envelope: read_envelope(row, 3)?,
        })
    })?
    .collect()
}
