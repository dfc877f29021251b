use std::num::NonZeroU32;

use nimbus_messaging::Envelope;
use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension};

use super::enqueue::advance;
use super::hold::{Held, holds};
use super::outlook::lane_outlook;
use super::scheduled::activate;
use super::settle::bury;
use crate::address::QueueId;
use crate::message::{COLUMNS, read_envelope};
use crate::{MAX_DELIVERY_COUNT_EXCEEDED, UNREADABLE_MESSAGE};

/// A message as it is handed to the holder of its lane.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) envelope: Envelope,
    pub(crate) sequence: i64,
    pub(crate) enqueued_at: i64,
    pub(crate) delivery_count: u32,
}

/// What receiving found.
#[derive(Debug)]
pub(crate) enum Took {
    Message(Box<Taken>),
    /// Nothing is due or the head is not settled; try again at that instant, if there is one.
    Nothing(Option<i64>),
    LockLost,
}

struct Head {
    sequence: i64,
    due_at: i64,
    delivery_count: u32,
    taken: bool,
}

/// Takes the head of a held lane and counts the delivery. What was delivered too often goes to the
/// dead-letter queue instead.
pub(crate) fn take(
    db: &Connection,
    queue: QueueId,
    held: Held,
    now: i64,
    limit: NonZeroU32,
) -> rusqlite::Result<Took> {
    if !holds(db, held, now)? {
        return Ok(Took::LockLost);
    }
    activate(db, queue, now)?;
    while let Some(head) = head(db, held.lane)? {
        if head.taken || head.due_at > now {
            break;
        }
        let delivery_count = head.delivery_count.saturating_add(1);
        if head.delivery_count >= limit.get() {
            let description =
                format!("delivered {limit} times without being settled; the limit is {limit}");
            tracing::warn!(
                sequence = head.sequence,
                limit,
                "a message was delivered too often and goes to the dead-letter queue"
            );
            let reason = MAX_DELIVERY_COUNT_EXCEEDED;
            bury(
                db,
                head.sequence,
                head.delivery_count,
                now,
                reason,
                &description,
            )?;
            advance(db, held.lane)?;
            continue;
        }
        match read(db, head.sequence, delivery_count)? {
            Ok(taken) => {
                db.prepare_cached(
                    "update nimbus_queue_lane set head_taken = 1, head_delivery_count = ?2
                     where lane = ?1",
                )?
                .execute((held.lane, delivery_count))?;
                return Ok(Took::Message(Box::new(taken)));
            }
            Err(problem) => {
                let reason = UNREADABLE_MESSAGE;
                bury(db, head.sequence, delivery_count, now, reason, &problem)?;
                advance(db, held.lane)?;
            }
        }
    }
    lane_outlook(db, queue, held, now).map(Took::Nothing)
}

/// Takes the deferred message with that number, unless this holder has it already.
pub(crate) fn take_deferred(
    db: &Connection,
    queue: QueueId,
    held: Held,
    session: &str,
    sequence: i64,
    now: i64,
) -> rusqlite::Result<Took> {
    if !holds(db, held, now)? {
        return Ok(Took::LockLost);
    }
    let delivery_count: Option<u32> = db
        .prepare_cached(
            "update nimbus_queue_message
             set taken_by = ?1, delivery_count = delivery_count + 1
             where sequence = ?2 and queue = ?3 and session_id = ?4 and state = 'deferred'
               and taken_by is not ?1
             returning delivery_count",
        )?
        .query_row((held.token, sequence, queue.0, session), |row| row.get(0))
        .optional()?;
    let Some(delivery_count) = delivery_count else {
        return Ok(Took::Nothing(None));
    };
    match read(db, sequence, delivery_count)? {
        Ok(taken) => Ok(Took::Message(Box::new(taken))),
        Err(problem) => {
            bury(
                db,
                sequence,
                delivery_count,
                now,
                UNREADABLE_MESSAGE,
                &problem,
            )?;
            Ok(Took::Nothing(None))
        }
    }
}

fn head(db: &Connection, lane: i64) -> rusqlite::Result<Option<Head>> {
    db.prepare_cached(
        "select head, head_due_at, head_delivery_count, head_taken from nimbus_queue_lane
         where lane = ?1 and head is not null",
    )?
    .query_row([lane], |row| {
        Ok(Head {
            sequence: row.get(0)?,
            due_at: row.get(1)?,
            delivery_count: row.get(2)?,
            taken: row.get(3)?,
        })
    })
    .optional()
}

/// The message, or why its row can't be read: one bad row must not hold its line for ever.
fn read(
    db: &Connection,
    sequence: i64,
    delivery_count: u32,
) -> rusqlite::Result<Result<Taken, String>> {
    let row = db
        .prepare_cached(&format!(
            "select enqueued_at, {COLUMNS} from nimbus_queue_message where sequence = ?1"
        ))?
        .query_row([sequence], |row| {
            Ok(Taken {
                enqueued_at: row.get(0)?,
                envelope: read_envelope(row, 1)?,
                sequence,
                delivery_count,
            })
        });
    match row {
        Err(rusqlite::Error::FromSqlConversionFailure(_, _, problem)) => Ok(Err(format!(
            "the stored properties are not readable: {problem}"
        ))),
        row => row.map(Ok),
    }
}
