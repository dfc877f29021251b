use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension};

use super::hold::{Held, LockToken};
use super::scheduled::activate;
use crate::address::QueueId;

/// A lane that was locked.
#[derive(Debug)]
pub(crate) struct Accepted {
    pub(crate) held: Held,
    pub(crate) session: Option<String>,
}

pub(super) const FORGET_EXPIRED_EMPTY: &str =
    "delete from nimbus_queue_lane where queue = ?1 and locked_until <= ?2 and head is null";

pub(super) const FREE_EXPIRED: &str =
    "update nimbus_queue_lane set lock_token = null, locked_until = null, head_taken = 0
     where queue = ?1 and locked_until <= ?2";

pub(super) const FIND_OLDEST_FREE: &str = "select lane, session from nimbus_queue_lane
     where queue = ?1 and locked_until is null and head_due_at <= ?2
     order by head_due_at, head limit 1";

/// Locks the lane whose head has been due for longest, if one is free.
pub(crate) fn accept(
    db: &Connection,
    queue: QueueId,
    now: i64,
    until: i64,
    token: LockToken,
) -> rusqlite::Result<Option<Accepted>> {
    db.prepare_cached(FORGET_EXPIRED_EMPTY)?
        .execute((queue.0, now))?;
    db.prepare_cached(FREE_EXPIRED)?.execute((queue.0, now))?;
    activate(db, queue, now)?;
    let found: Option<(i64, Option<String>)> = db
        .prepare_cached(FIND_OLDEST_FREE)?
        .query_row((queue.0, now), |row| Ok((row.get(0)?, row.get(1)?)))
        .optional()?;
    let Some((lane, session)) = found else {
        return Ok(None);
    };
    db.prepare_cached(
        "update nimbus_queue_lane set lock_token = ?2, locked_until = ?3 where lane = ?1",
    )?
    .execute((lane, token, until))?;
    Ok(Some(Accepted {
        held: Held { lane, token },
        session,
    }))
}
