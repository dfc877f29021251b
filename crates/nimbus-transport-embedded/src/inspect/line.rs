use std::num::NonZeroU32;
use std::time::Duration;

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Envelope, Settlement};
use nimbus_sqlite::rusqlite::{self, Connection};

use crate::address::QueueId;
use crate::line::{self, LockToken, Took};
use crate::message::{COLUMNS, read_envelope};

/// What stands in line, in the order it was sent, across all sessions.
pub(super) fn messages(
    db: &Connection,
    queue: QueueId,
    limit: u32,
) -> rusqlite::Result<Vec<Envelope>> {
    db.prepare_cached(&format!(
        "select {COLUMNS} from nimbus_queue_message
         where queue = ?1 and state = 'ready' order by sequence limit ?2"
    ))?
    .query_map((queue.0, limit), |row| read_envelope(row, 0))?
    .collect()
}

/// Receives and completes what is due in lanes that nobody holds, as a receiver would, in the
/// caller's transaction. Each session's messages are together, in their order.
pub(super) fn drain(
    db: &Connection,
    queue: QueueId,
    now: Timestamp,
    limit: u32,
) -> rusqlite::Result<Vec<Envelope>> {
    let ticks = now.unix_ticks();
    let until = now.saturating_add(Duration::from_secs(1)).unix_ticks();
    let mut drained = Vec::new();
    let room =
        |drained: &Vec<Envelope>| drained.len() < usize::try_from(limit).unwrap_or(usize::MAX);
    while room(&drained) {
        let token = LockToken::random();
        let Some(accepted) = line::accept(db, queue, ticks, until, token)? else {
            break;
        };
        let held = accepted.held;
        while room(&drained) {
            let taking = line::take(db, queue, held, ticks, NonZeroU32::MAX)?;
            let Took::Message(taken) = taking.took else {
                break;
            };
            let (sequence, count) = (taken.sequence, taken.delivery_count);
            line::settle(db, held, sequence, count, &Settlement::Complete, now)?;
            drained.push(taken.envelope);
        }
        line::release(db, held, ticks)?;
    }
    Ok(drained)
}
