use nimbus_inbox_core::Timestamp;
use nimbus_messaging::Envelope;
use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension};

use crate::address::QueueId;
use crate::line::{self, Arrival};
use crate::message::{COLUMNS, StoredEnvelope, read_damaged_envelope, read_envelope};

/// A message in the dead-letter queue.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// Names it, to [resubmit](super::Inspector::resubmit) it.
    pub sequence_number: i64,
    /// The message; without its properties if those are damaged.
    pub envelope: Envelope,
    /// A short, fixed reason.
    pub reason: String,
    /// What happened.
    pub description: String,
    /// How often it had been delivered.
    pub delivery_count: u32,
    /// When it was sent.
    pub enqueued_at: Timestamp,
    /// When it was dead-lettered.
    pub dead_at: Timestamp,
}

pub(super) fn dead_letters(
    db: &Connection,
    queue: QueueId,
    limit: u32,
) -> rusqlite::Result<Vec<DeadLetter>> {
    db.prepare_cached(&format!(
        "select sequence, dead_reason, dead_description, delivery_count, enqueued_at, dead_at,
                {COLUMNS}
         from nimbus_queue_message where queue = ?1 and state = 'dead' order by sequence limit ?2"
    ))?
    .query_map((queue.0, limit), |row| {
        Ok(DeadLetter {
            sequence_number: row.get(0)?,
            reason: row.get(1)?,
            description: row.get(2)?,
            delivery_count: row.get(3)?,
            enqueued_at: row.get(4).map(Timestamp::from_unix_ticks)?,
            dead_at: row.get(5).map(Timestamp::from_unix_ticks)?,
            // One damaged row must not hide the others.
            envelope: read_damaged_envelope(row, 6)?,
        })
    })?
    .collect()
}

/// Moves a dead letter to the end of its line, as a message that was never delivered.
pub(super) fn resubmit(
    db: &Connection,
    queue: QueueId,
    sequence: i64,
    now: i64,
) -> rusqlite::Result<bool> {
    let envelope = db
        .prepare_cached(&format!(
            "delete from nimbus_queue_message
             where sequence = ?1 and queue = ?2 and state = 'dead' returning {COLUMNS}"
        ))?
        .query_row((sequence, queue.0), |row| read_envelope(row, 0))
        .optional()?;
    let Some(envelope) = envelope else {
        return Ok(false);
    };
    line::activate(db, queue, now)?;
    let arrival = Arrival {
        queue,
        message: &StoredEnvelope::new(envelope),
        at: now,
    };
    line::enqueue(db, arrival).map(|()| true)
}

pub(super) fn purge(db: &Connection, queue: QueueId) -> rusqlite::Result<usize> {
    db.execute(
        "delete from nimbus_queue_message where queue = ?1 and state = 'dead'",
        [queue.0],
    )
}
