use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension, params};

use crate::address::QueueId;
use crate::message::{COLUMNS, PLACEHOLDERS, StoredEnvelope};

/// A message that has a place in a lane from now on.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Arrival<'a> {
    pub(crate) queue: QueueId,
    pub(crate) message: &'a StoredEnvelope,
    /// Ticks.
    pub(crate) at: i64,
}

/// Puts a message at the end of its session's line, or into a lane of its own.
pub(crate) fn enqueue(db: &Connection, arrival: Arrival<'_>) -> rusqlite::Result<()> {
    let lane = lane_for(db, arrival.queue, arrival.message.session())?;
    db.prepare_cached(&format!(
        "insert into nimbus_queue_message (queue, lane, state, enqueued_at, {COLUMNS})
         values (:queue, :lane, 'ready', :at, {PLACEHOLDERS})"
    ))?
    .execute(&*arrival.message.bind(&[
        (":queue", &arrival.queue.0),
        (":lane", &lane),
        (":at", &arrival.at),
    ]))?;
    become_head_if_first(db, lane, db.last_insert_rowid(), arrival.at)
}

pub(super) const FIND_LANE: &str =
    "select lane from nimbus_queue_lane where queue = ?1 and session = ?2";

pub(super) const NEXT_IN_LINE: &str = "select sequence, enqueued_at from nimbus_queue_message
     where lane = ?1 order by sequence limit 1";

/// The lane of a session, made if there is none; a new one without a session.
pub(super) fn lane_for(
    db: &Connection,
    queue: QueueId,
    session: Option<&str>,
) -> rusqlite::Result<i64> {
    let known = match session {
        None => None,
        Some(session) => db
            .prepare_cached(FIND_LANE)?
            .query_row((queue.0, session), |row| row.get(0))
            .optional()?,
    };
    if let Some(lane) = known {
        return Ok(lane);
    }
    db.prepare_cached("insert into nimbus_queue_lane (queue, session) values (?1, ?2)")?
        .insert((queue.0, session))
}

/// A lane that was empty starts with this message.
pub(super) fn become_head_if_first(
    db: &Connection,
    lane: i64,
    sequence: i64,
    due_at: i64,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "update nimbus_queue_lane
         set head = ?2, head_due_at = ?3, head_delivery_count = 0, head_taken = 0
         where lane = ?1 and head is null",
    )?
    .execute(params![lane, sequence, due_at])
    .map(drop)
}

/// The oldest message that is left in the lane becomes its head; none leaves it empty.
pub(super) fn advance(db: &Connection, lane: i64) -> rusqlite::Result<()> {
    let next: Option<(i64, i64)> = db
        .prepare_cached(NEXT_IN_LINE)?
        .query_row([lane], |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    db.prepare_cached(
        "update nimbus_queue_lane
         set head = ?2, head_due_at = ?3, head_delivery_count = 0, head_taken = 0
         where lane = ?1",
    )?
    .execute(params![
        lane,
        next.map(|next| next.0),
        next.map(|next| next.1)
    ])
    .map(drop)
}
