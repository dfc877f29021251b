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

/// What receiving did.
#[derive(Debug)]
pub(crate) struct Taking {
    pub(crate) took: Took,
    /// What stood in the way and went to the dead-letter queue.
    pub(crate) buried: Vec<Buried>,
}

/// A message that was dead-lettered instead of being delivered.
#[derive(Debug)]
pub(crate) struct Buried {
    pub(crate) sequence: i64,
    pub(crate) reason: &'static str,
    pub(crate) description: String,
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

impl From<Took> for Taking {
    fn from(took: Took) -> Self {
        Self {
            took,
            buried: Vec::new(),
        }
    }
}

/// Takes the head of a held lane and counts the delivery. What was delivered too often goes to the
/// dead-letter queue instead.
pub(crate) fn take(
    db: &Connection,
    queue: QueueId,
    held: Held,
    now: i64,
    limit: NonZeroU32,
) -> rusqlite::Result<Taking> {
    if !holds(db, held, now)? {
        return Ok(Took::LockLost.into());
    }
    activate(db, queue, now)?;
    let mut buried = Vec::new();
    while let Some(head) = head(db, held.lane)? {
        if head.taken || head.due_at > now {
            break;
        }
        match deliver(db, held.lane, &head, limit)? {
            Ok(taken) => {
                let took = Took::Message(Box::new(taken));
                return Ok(Taking { took, buried });
            }
            Err(refused) => {
                refused.bury(db, head.delivery_count, now)?;
                advance(db, held.lane)?;
                buried.push(refused);
            }
        }
    }
    let took = lane_outlook(db, queue, held, now).map(Took::Nothing)?;
    Ok(Taking { took, buried })
}

/// Counts the delivery of the head, or tells why it can't be delivered.
fn deliver(
    db: &Connection,
    lane: i64,
    head: &Head,
    limit: NonZeroU32,
) -> rusqlite::Result<Result<Taken, Buried>> {
    if head.delivery_count >= limit.get() {
        return Ok(Err(Buried {
            sequence: head.sequence,
            reason: MAX_DELIVERY_COUNT_EXCEEDED,
            description: format!(
                "delivered {} times without being settled; the limit is {limit}",
                head.delivery_count
            ),
        }));
    }
    let delivery_count = head.delivery_count.saturating_add(1);
    let read = read(db, head.sequence, delivery_count)?;
    if read.is_ok() {
        db.prepare_cached(
            "update nimbus_queue_lane set head_taken = 1, head_delivery_count = ?2
             where lane = ?1",
        )?
        .execute((lane, delivery_count))?;
    }
    Ok(read)
}

/// Takes the deferred message with that number, unless this holder has it already.
pub(crate) fn take_deferred(
    db: &Connection,
    queue: QueueId,
    held: Held,
    session: &str,
    sequence: i64,
    now: i64,
) -> rusqlite::Result<Taking> {
    if !holds(db, held, now)? {
        return Ok(Took::LockLost.into());
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
        return Ok(Took::Nothing(None).into());
    };
    match read(db, sequence, delivery_count)? {
        Ok(taken) => Ok(Took::Message(Box::new(taken)).into()),
        Err(refused) => {
            refused.bury(db, delivery_count, now)?;
            Ok(Taking {
                took: Took::Nothing(None),
                buried: vec![refused],
            })
        }
    }
}

impl Buried {
    fn bury(&self, db: &Connection, delivery_count: u32, now: i64) -> rusqlite::Result<()> {
        let (reason, description) = (self.reason, &self.description);
        bury(db, self.sequence, delivery_count, now, reason, description)
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
) -> rusqlite::Result<Result<Taken, Buried>> {
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
        Err(rusqlite::Error::FromSqlConversionFailure(_, _, problem)) => Ok(Err(Buried {
            sequence,
            reason: UNREADABLE_MESSAGE,
            description: format!("the stored properties are not readable: {problem}"),
        })),
        row => row.map(Ok),
    }
}
