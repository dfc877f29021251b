//! When there will be something to do, without writing anything.

use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension, params};

use super::hold::Held;
use crate::address::QueueId;

pub(super) const QUEUE_OUTLOOK: &str = "select min(at) from (
     select * from (select head_due_at as at from nimbus_queue_lane
                    where queue = ?1 and locked_until is null and head_due_at is not null
                    order by head_due_at limit 1)
     union all
     select * from (select locked_until from nimbus_queue_lane
                    where queue = ?1 and locked_until is not null
                    order by locked_until limit 1)
     union all
     select * from (select due_at from nimbus_queue_message
                    where queue = ?1 and state = 'scheduled'
                    order by due_at limit 1))";

/// The instant from which accepting a lane has a chance: a free lane is due, a lock ends or a
/// scheduled message joins its line.
pub(crate) fn queue_outlook(db: &Connection, queue: QueueId) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached(QUEUE_OUTLOOK)?
        .query_row([queue.0], |row| row.get(0))
}

/// The instant from which receiving from a held lane has a chance, or tells that its lock is lost.
pub(crate) fn lane_outlook(
    db: &Connection,
    queue: QueueId,
    held: Held,
    now: i64,
) -> rusqlite::Result<Option<i64>> {
    let lock: Option<(i64, Option<i64>)> = db
        .prepare_cached(
            "select locked_until, iif(head_taken, null, head_due_at) from nimbus_queue_lane
             where lane = ?1 and lock_token = ?2",
        )?
        .query_row(params![held.lane, held.token], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
        .optional()?;
    let Some((locked_until, head_due_at)) = lock else {
        return Ok(Some(now));
    };
    let scheduled: Option<i64> = db
        .prepare_cached(
            "select due_at from nimbus_queue_message
             where queue = ?1 and state = 'scheduled' order by due_at limit 1",
        )?
        .query_row([queue.0], |row| row.get(0))
        .optional()?;
    Ok([Some(locked_until), head_due_at, scheduled]
        .into_iter()
        .flatten()
        .min())
}
