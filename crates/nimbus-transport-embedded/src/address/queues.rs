use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension};

/// Row of a declared queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct QueueId(pub(crate) i64);

/// Names are equal when they differ only by ASCII case (SUB-04).
pub(super) fn key(name: &str) -> String {
    name.to_ascii_lowercase()
}

/// The queue of that name.
pub(crate) fn find(db: &Connection, name: &str) -> rusqlite::Result<Option<QueueId>> {
    db.prepare_cached("select queue from nimbus_queue where key = ?1")?
        .query_row([key(name)], |row| row.get(0).map(QueueId))
        .optional()
}

/// The queue of that name, declared now if it wasn't; none when a topic has the name.
pub(crate) fn declare(db: &Connection, name: &str) -> rusqlite::Result<Option<QueueId>> {
    if super::topics::find(db, name)?.is_some() {
        return Ok(None);
    }
    db.execute(
        "insert into nimbus_queue (key, name) values (?1, ?2) on conflict do nothing",
        (key(name), name),
    )?;
    find(db, name)
}

/// What is declared, queues before topics, for an error text.
pub(crate) fn names(db: &Connection) -> rusqlite::Result<Vec<String>> {
    db.prepare_cached(
        "select name from (select name, 0 as kind from nimbus_queue
                           union all select name, 1 from nimbus_queue_topic)
         order by kind, name limit 50",
    )?
    .query_map((), |row| row.get(0))?
    .collect()
}
