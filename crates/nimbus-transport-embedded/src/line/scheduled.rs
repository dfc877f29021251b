use nimbus_sqlite::rusqlite::{self, Connection, params};

use super::enqueue::{become_head_if_first, lane_for};
use crate::address::QueueId;
use crate::message::{COLUMNS, PLACEHOLDERS, StoredEnvelope};

/// Bounds how long one transaction takes when very many become due at once; the next goes on.
const MOST_AT_ONCE: u32 = 256;

/// Keeps a message aside until `due_at`, and returns the schedule's number. Copies for further
/// queues pass it on.
pub(crate) fn schedule(
    db: &Connection,
    queue: QueueId,
    message: &StoredEnvelope,
    now: i64,
    due_at: i64,
    schedule: Option<i64>,
) -> rusqlite::Result<i64> {
    db.prepare_cached(&format!(
        "insert into nimbus_queue_message (queue, state, enqueued_at, due_at, schedule, {COLUMNS})
         values (:queue, 'scheduled', :now, :due_at, :schedule, {PLACEHOLDERS})"
    ))?
    .execute(&*message.bind(&[
        (":queue", &queue.0),
        (":now", &now),
        (":due_at", &due_at),
        (":schedule", &schedule),
    ]))?;
    let sequence = db.last_insert_rowid();
    if let Some(schedule) = schedule {
        return Ok(schedule);
    }
    db.prepare_cached("update nimbus_queue_message set schedule = sequence where sequence = ?1")?
        .execute([sequence])?;
    Ok(sequence)
}

/// Withdraws what is not due yet; `false` when nothing is left of the schedule.
///
/// What is due counts as delivered even before it joined its line, so that the copies for several
/// subscriptions share one fate.
pub(crate) fn cancel(db: &Connection, schedule: i64, now: i64) -> rusqlite::Result<bool> {
    let withdrawn = db.execute(
        "delete from nimbus_queue_message
         where schedule = ?1 and state = 'scheduled' and due_at > ?2",
        (schedule, now),
    )?;
    Ok(withdrawn > 0)
}

pub(super) const FIND_DUE: &str = "select sequence, due_at, session_id from nimbus_queue_message
     where queue = ?1 and state = 'scheduled' and due_at <= ?2
     order by due_at, sequence limit ?3";

/// Scheduled messages that are due join the end of their lines, in the order of their instants.
///
/// They take new sequence numbers: they stand behind what was sent before they were due. Whoever
/// adds to the queue or looks into it calls this first.
pub(crate) fn activate(db: &Connection, queue: QueueId, now: i64) -> rusqlite::Result<()> {
    let due: Vec<(i64, i64, Option<String>)> = db
        .prepare_cached(FIND_DUE)?
        .query_map(params![queue.0, now, MOST_AT_ONCE], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get(2)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    for (scheduled, due_at, session) in due {
        let session = session.as_deref().filter(|session| !session.is_empty());
        let lane = lane_for(db, queue, session)?;
        let sequence = db
            .prepare_cached(&format!(
                "insert into nimbus_queue_message (queue, lane, state, enqueued_at, {COLUMNS})
                 select queue, ?2, 'ready', due_at, {COLUMNS}
                 from nimbus_queue_message where sequence = ?1"
            ))?
            .insert((scheduled, lane))?;
        db.prepare_cached("delete from nimbus_queue_message where sequence = ?1")?
            .execute([scheduled])?;
        become_head_if_first(db, lane, sequence, due_at)?;
    }
    Ok(())
}
