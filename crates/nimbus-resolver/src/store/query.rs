//! Questions about events.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use nimbus_messaging::{Address, EventContent};
use nimbus_sqlite::rusqlite::{self, Connection, OptionalExtension, params_from_iter};

use super::filter::EventFilter;
use super::fold;
use super::rows::{self, EVENT_COLUMNS, EventRecord, HistoryEntry};
use crate::{Cause, EventKey, EventState};

/// Where a page of events ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cursor {
    last_seen: i64,
    event: i64,
}

impl fmt::Display for Cursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.last_seen, self.event)
    }
}

impl FromStr for Cursor {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once('.').and_then(|(last_seen, event)| {
            Some(Self {
                last_seen: last_seen.parse().ok()?,
                event: event.parse().ok()?,
            })
        });
        parts.ok_or_else(|| format!("{text:?} is not where a page ended"))
    }
}

/// Some of the events that were asked for.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EventPage {
    /// The last heard of first; without content.
    pub events: Vec<EventRecord>,
    /// Where the next page begins, if there is one.
    pub next: Option<Cursor>,
}

/// How many events of an endpoint are in one state.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StateCount {
    /// The endpoint.
    pub endpoint: Address,
    /// The state.
    pub state: EventState,
    /// How many.
    pub events: u64,
    /// How many duplicates were seen of them.
    pub duplicates: u64,
}

/// What was heard of one message.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct MessageTrace {
    /// The event that it brought.
    pub event: EventRecord,
    /// The reports about it and what stood in for it, in the order of arrival.
    pub reports: Vec<HistoryEntry>,
}

const FROM: &str = "nimbus_resolver_event as event
     left join nimbus_resolver_report as report on report.entry = event.state_entry";

pub(super) fn page(
    db: &Connection,
    filter: &EventFilter,
    after: Option<Cursor>,
    limit: u32,
) -> rusqlite::Result<EventPage> {
    let (mut condition, mut values) = filter.condition();
    if let Some(after) = after {
        values.push(after.last_seen.into());
        values.push(after.event.into());
        let last = values.len();
        condition.push_str(&format!(
            " and (event.last_seen, event.event) < (?{}, ?{last})",
            last - 1
        ));
    }
    values.push((i64::from(limit) + 1).into());
    let mut found: Vec<(Cursor, EventRecord)> = db
        .prepare(&format!(
            "select {EVENT_COLUMNS}, event.last_seen, event.event from {FROM} where {condition}
             order by event.last_seen desc, event.event desc limit ?{}",
            values.len()
        ))?
        .query_map(params_from_iter(values), |row| {
            let cursor = Cursor {
                last_seen: row.get(29)?,
                event: row.get(30)?,
            };
            Ok((cursor, rows::event(row)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let limit = usize::try_from(limit).unwrap_or(usize::MAX);
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more).map(|(cursor, _)| *cursor);
    Ok(EventPage {
        events: found.into_iter().map(|(_, event)| event).collect(),
        next,
    })
}

pub(super) fn event(db: &Connection, key: &EventKey) -> rusqlite::Result<Option<EventRecord>> {
    let keys = [key.endpoint_column(), key.subject.column()];
    let found = with_content(
        db,
        "event.endpoint_key = ?1 and event.event_key = ?2",
        &keys,
    )?;
    Ok(found.into_iter().next())
}

pub(super) fn find(
    db: &Connection,
    endpoint: Option<&str>,
    id: &str,
) -> rusqlite::Result<Vec<EventRecord>> {
    let mut values = vec![
        format!("event:{}", id.to_ascii_lowercase()),
        format!("message:{id}"),
    ];
    let mut condition = "event.event_key in (?1, ?2)".to_owned();
    if let Some(endpoint) = endpoint {
        values.push(endpoint.to_owned());
        condition.push_str(" and event.endpoint_key = ?3");
    }
    with_content(db, &condition, &values)
}

fn with_content(
    db: &Connection,
    condition: &str,
    values: &[String],
) -> rusqlite::Result<Vec<EventRecord>> {
    db.prepare_cached(&format!(
        "select {EVENT_COLUMNS}, event.content_type_id, event.event_json from {FROM}
         where {condition} order by event.endpoint_key, event.event_key"
    ))?
    .query_map(params_from_iter(values), |row| {
        let mut record = rows::event(row)?;
        let event_json: Option<String> = row.get(30)?;
        if event_json.is_some() {
            record.content = Some(EventContent {
                event_type_id: row.get(29)?,
                event_json,
            });
        }
        Ok(record)
    })?
    .collect()
}

pub(super) fn history(db: &Connection, key: &EventKey) -> rusqlite::Result<Vec<HistoryEntry>> {
    let event = db
        .prepare_cached(
            "select event from nimbus_resolver_event where endpoint_key = ?1 and event_key = ?2",
        )?
        .query_row((key.endpoint_column(), key.subject.column()), |row| {
            row.get(0)
        })
        .optional()?;
    event.map_or_else(|| Ok(Vec::new()), |event| history_of(db, event))
}

fn history_of(db: &Connection, event: i64) -> rusqlite::Result<Vec<HistoryEntry>> {
    let moves: HashMap<i64, EventState> = fold::fold(fold::steps(db, event)?)
        .into_iter()
        .filter_map(|(step, standing)| {
            let standing = standing.filter(|standing| standing.entry == step.entry)?;
            Some((step.entry, standing.state))
        })
        .collect();
    db.prepare_cached(
        "select entry, message_id, kind, cause, occurred_at, received_at, parent_message_id,
             inbox_message_id, retry_count, queue_time_ms, processing_time_ms, error_type,
             error_text, dead_letter_reason, dead_letter_description, handoff_reason,
             external_job_id, expected_by, next_retry_at
         from nimbus_resolver_report where event = ?1 order by entry",
    )?
    .query_map([event], |row| {
        Ok(HistoryEntry {
            moved_to: moves.get(&row.get(0)?).copied(),
            message_id: row.get(1)?,
            kind: rows::kind(row, 2)?,
            cause: Cause::from_name(&row.get::<_, String>(3)?),
            occurred_at: rows::moment(row, 4)?,
            received_at: rows::moment(row, 5)?,
            parent_message_id: row.get(6)?,
            inbox_message_id: row.get(7)?,
            retry_count: row.get(8)?,
            queue_time_ms: row.get(9)?,
            processing_time_ms: row.get(10)?,
            details: rows::details(row, 11)?,
        })
    })?
    .collect()
}

pub(super) fn message(
    db: &Connection,
    endpoint: &str,
    message_id: &str,
) -> rusqlite::Result<Vec<MessageTrace>> {
    let events: Vec<(i64, EventRecord)> = db
        .prepare_cached(&format!(
            "select {EVENT_COLUMNS}, event.event from {FROM}
             where event.endpoint_key = ?1 and event.event in (
                 select event from nimbus_resolver_event where message_id = ?2
                 union select event from nimbus_resolver_report where parent_message_id = ?2
                 union select event from nimbus_resolver_report where inbox_message_id = ?2
             )
             order by event.event"
        ))?
        .query_map((endpoint, message_id), |row| {
            Ok((row.get(29)?, rows::event(row)?))
        })?
        .collect::<rusqlite::Result<_>>()?;
    let about = |entry: &HistoryEntry| {
        [&entry.parent_message_id, &entry.inbox_message_id]
            .into_iter()
            .any(|id| id.as_deref() == Some(message_id))
    };
    events
        .into_iter()
        .map(|(id, event)| {
            let reports = history_of(db, id)?.into_iter().filter(about).collect();
            Ok(MessageTrace { event, reports })
        })
        .collect()
}

pub(super) fn counts(db: &Connection, filter: &EventFilter) -> rusqlite::Result<Vec<StateCount>> {
    let (condition, values) = filter.condition();
    db.prepare(&format!(
        "select min(event.endpoint), event.state, count(*), sum(event.duplicates)
         from {FROM} where {condition}
         group by event.endpoint_key, event.state order by event.endpoint_key, event.state"
    ))?
    .query_map(params_from_iter(values), |row| {
        Ok(StateCount {
            endpoint: Address::new(row.get::<_, String>(0)?),
            state: rows::state(row, 1)?,
            events: rows::count(row, 2)?,
            duplicates: rows::count(row, 3)?,
        })
    })?
    .collect()
}
