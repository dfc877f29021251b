use nimbus_sqlite::rusqlite::{self, Connection, Row};

use crate::address::QueueId;

/// What one queue holds.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct QueueCounts {
    /// The queue's name.
    pub address: String,
    /// Messages that stand in line, those that are being handled included.
    pub ready: u64,
    /// Messages that join their line later.
    pub scheduled: u64,
    /// Messages that wait to be fetched by their number.
    pub deferred: u64,
    /// Messages in the dead-letter queue.
    pub dead: u64,
    /// Copies that the subscriber parked behind a blocked session.
    pub parked: u64,
    /// Sessions and single messages that have something in line.
    pub lanes: u64,
    /// How many of them a receiver holds.
    pub locked_lanes: u64,
}

const COUNTS: &str = "select name,
    (select count(*) from nimbus_queue_lane as lane
        join nimbus_queue_message as message on message.lane = lane.lane
        where lane.queue = nimbus_queue.queue),
    (select count(*) from nimbus_queue_message as message
        where message.queue = nimbus_queue.queue and state = 'scheduled'),
    (select count(*) from nimbus_queue_message as message
        where message.queue = nimbus_queue.queue and state = 'deferred'),
    (select count(*) from nimbus_queue_message as message
        where message.queue = nimbus_queue.queue and state = 'dead'),
    (select count(*) from nimbus_queue_parked as parked
        where parked.queue = nimbus_queue.queue),
    (select count(*) from nimbus_queue_lane as lane
        where lane.queue = nimbus_queue.queue and head is not null),
    (select count(*) from nimbus_queue_lane as lane
        where lane.queue = nimbus_queue.queue and locked_until > ?1)
    from nimbus_queue where ?2 is null or queue = ?2 order by name";

/// Of one queue, or of all.
pub(super) fn counts(
    db: &Connection,
    queue: Option<QueueId>,
    now: i64,
) -> rusqlite::Result<Vec<QueueCounts>> {
    db.prepare_cached(COUNTS)?
        .query_map((now, queue.map(|queue| queue.0)), read)?
        .collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<QueueCounts> {
    let count = |index| row.get::<_, i64>(index).map(i64::unsigned_abs);
    Ok(QueueCounts {
        address: row.get(0)?,
        ready: count(1)?,
        scheduled: count(2)?,
        deferred: count(3)?,
        dead: count(4)?,
        parked: count(5)?,
        lanes: count(6)?,
        locked_lanes: count(7)?,
    })
}
