use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension};

use super::QueueId;
use super::queues;

/// Which events of a topic an endpoint takes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum EventFilter {
    /// Every message.
    All,
    /// Messages whose `EventTypeId` is one of these, byte for byte.
    EventTypes(Vec<String>),
}

/// Takes one event type.
impl From<&str> for EventFilter {
    fn from(event_type: &str) -> Self {
        Self::EventTypes(vec![event_type.to_owned()])
    }
}

impl EventFilter {
    pub(super) fn admits(&self, event_type: Option<&str>) -> bool {
        match self {
            Self::All => true,
            Self::EventTypes(types) => {
                event_type.is_some_and(|wanted| types.iter().any(|one| one == wanted))
            }
        }
    }

    fn to_column(&self) -> Option<String> {
        match self {
            Self::All => None,
            Self::EventTypes(types) => Some(serde_json::Value::from(types.as_slice()).to_string()),
        }
    }

    fn from_column(column: Option<&str>) -> serde_json::Result<Self> {
        column.map_or(Ok(Self::All), |json| {
            serde_json::from_str(json).map(Self::EventTypes)
        })
    }
}

pub(super) fn find(db: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    db.prepare_cached("select topic from nimbus_queue_topic where key = ?1")?
        .query_row([queues::key(name)], |row| row.get(0))
        .optional()
}

/// The topic of that name, declared now if it wasn't; none when a queue has the name.
pub(crate) fn declare_topic(db: &Connection, name: &str) -> rusqlite::Result<Option<i64>> {
    if queues::find(db, name)?.is_some() {
        return Ok(None);
    }
    db.execute(
        "insert into nimbus_queue_topic (key, name) values (?1, ?2) on conflict do nothing",
        (queues::key(name), name),
    )?;
    find(db, name)
}

/// Gives `queue` the one subscription it has to `topic`.
pub(crate) fn subscribe(
    db: &Connection,
    topic: i64,
    queue: QueueId,
    filter: &EventFilter,
) -> rusqlite::Result<()> {
    db.execute(
        "insert into nimbus_queue_subscription (topic, queue, event_types) values (?1, ?2, ?3)
         on conflict (topic, queue) do update set event_types = excluded.event_types",
        (topic, queue.0, filter.to_column()),
    )
    .map(drop)
}

pub(super) fn subscriptions(
    db: &Connection,
    topic: i64,
) -> rusqlite::Result<Vec<(QueueId, EventFilter)>> {
    db.prepare_cached(
        "select queue, event_types from nimbus_queue_subscription where topic = ?1 order by queue",
    )?
    .query_map([topic], |row| {
        let filter =
            EventFilter::from_column(row.get_ref(1)?.as_str_or_null()?).map_err(|error| {
                rusqlite::Error::FromSqlConversionFailure(
                    1,
                    rusqlite::types::Type::Text,
                    Box::new(error),
                )
            })?;
        Ok((QueueId(row.get(0)?), filter))
    })?
    .collect()
}
