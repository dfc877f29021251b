use std::time::Duration;

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::Settlement;
use nimbus_sqlite::rusqlite::{self, Connection, params};

use super::enqueue::advance;
use super::hold::{Held, holds};

/// What settling found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Settled {
    Done,
    LockLost,
}

/// Settles the head of a held lane. Whoever holds the lock it was taken under has the only receipt.
pub(crate) fn settle(
    db: &Connection,
    held: Held,
    sequence: i64,
    delivery_count: u32,
    settlement: &Settlement,
    now: Timestamp,
) -> rusqlite::Result<Settled> {
    let ticks = now.unix_ticks();
    if !holds(db, held, ticks)? {
        return Ok(Settled::LockLost);
    }
    match settlement {
        Settlement::Complete => forget(db, sequence)?,
        Settlement::Abandon { delay } => {
            put_back(db, held.lane, *delay, now)?;
            return Ok(Settled::Done);
        }
        Settlement::DeadLetter {
            reason,
            description,
        } => bury(db, sequence, delivery_count, ticks, reason, description)?,
        Settlement::Defer => set_aside(db, sequence, delivery_count)?,
    }
    advance(db, held.lane)?;
    Ok(Settled::Done)
}

/// Settles a deferred message that was fetched by its number.
pub(crate) fn settle_deferred(
    db: &Connection,
    held: Held,
    sequence: i64,
    delivery_count: u32,
    settlement: &Settlement,
    now: Timestamp,
) -> rusqlite::Result<Settled> {
    let ticks = now.unix_ticks();
    if !holds(db, held, ticks)? {
        return Ok(Settled::LockLost);
    }
    match settlement {
        Settlement::Complete => forget(db, sequence)?,
        // It has no line to hold: it stays aside, to be fetched again.
        Settlement::Abandon { .. } | Settlement::Defer => {
            set_aside(db, sequence, delivery_count)?;
        }
        Settlement::DeadLetter {
            reason,
            description,
        } => bury(db, sequence, delivery_count, ticks, reason, description)?,
    }
    Ok(Settled::Done)
}

/// Moves a message to the dead-letter queue.
pub(super) fn bury(
    db: &Connection,
    sequence: i64,
    delivery_count: u32,
    now: i64,
    reason: &str,
    description: &str,
) -> rusqlite::Result<()> {
    db.prepare_cached(
        "update nimbus_queue_message
         set state = 'dead', lane = null, taken_by = null, delivery_count = ?2,
             dead_at = ?3, dead_reason = ?4, dead_description = ?5
         where sequence = ?1",
    )?
    .execute(params![sequence, delivery_count, now, reason, description])
    .map(drop)
}

fn forget(db: &Connection, sequence: i64) -> rusqlite::Result<()> {
    db.prepare_cached("delete from nimbus_queue_message where sequence = ?1")?
        .execute([sequence])
        .map(drop)
}

/// The head keeps its place; a delay makes its whole line wait (it survives a restart).
fn put_back(db: &Connection, lane: i64, delay: Duration, now: Timestamp) -> rusqlite::Result<()> {
    let due_at = (!delay.is_zero()).then(|| now.saturating_add(delay).unix_ticks());
    db.prepare_cached(
        "update nimbus_queue_lane
         set head_taken = 0, head_due_at = coalesce(?2, head_due_at) where lane = ?1",
    )?
    .execute((lane, due_at))
    .map(drop)
}

fn set_aside(db: &Connection, sequence: i64, delivery_count: u32) -> rusqlite::Result<()> {
    db.prepare_cached(
        "update nimbus_queue_message
         set state = 'deferred', lane = null, taken_by = null, delivery_count = ?2
         where sequence = ?1",
    )?
    .execute((sequence, delivery_count))
    .map(drop)
}
