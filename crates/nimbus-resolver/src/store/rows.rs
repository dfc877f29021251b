//! What rows become.

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Address, EventContent, EventId, EventReference, Headers};
use nimbus_sqlite::rusqlite::types::Type;
use nimbus_sqlite::rusqlite::{self, Row};

use crate::key::{EventKey, Subject};
use crate::{Cause, Details, EventIdentity, EventState, ReportKind};

/// One event, and what has become of it.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct EventRecord {
    /// What it is known by.
    pub key: EventKey,
    /// The id of the message that first brought it, if it is known.
    pub message_id: Option<String>,
    /// What has become of it.
    pub state: EventState,
    /// Since when.
    pub state_since: Timestamp,
    /// What the report said that led to the state.
    pub details: Details,
    /// Who it is.
    pub identity: EventIdentity,
    /// How many retries came before the last attempt.
    pub retry_count: Option<u32>,
    /// How many reports about it were kept.
    pub reports: u64,
    /// How many of them say that a message of it was a duplicate.
    pub duplicates: u64,
    /// When it was first heard of.
    pub first_seen: Timestamp,
    /// When it was last heard of.
    pub last_seen: Timestamp,
    /// Whether the event itself is kept, so that it can be resubmitted.
    pub has_content: bool,
    /// The event itself, where it was asked for.
    pub content: Option<EventContent>,
}

impl EventRecord {
    /// What operators' commands name it by; `None` when it has no event id.
    #[must_use]
    pub fn reference(&self) -> Option<EventReference> {
        let identity = self.identity.clone();
        let event_id = self.key.event_id()?.clone();
        Some(EventReference::of_outcome(&Headers {
            event_id: Some(event_id),
            original_session_id: identity.session_id,
            event_type_id: identity.event_type,
            correlation_id: identity.correlation_id,
            originating_message_id: identity.originating_message_id,
            originating_from: identity.originating_from,
            cloud_event_id: identity.cloud_event_id,
            cloud_event_source: identity.cloud_event_source,
            cloud_event_type: identity.cloud_event_type,
            cloud_event_subject: identity.cloud_event_subject,
            ..Headers::default()
        }))
    }
}

/// One report of an event's history.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The report's message id.
    pub message_id: String,
    /// What it told.
    pub kind: ReportKind,
    /// What kind of message it was about.
    pub cause: Cause,
    /// When it was sent.
    pub occurred_at: Timestamp,
    /// When it arrived.
    pub received_at: Timestamp,
    /// The message that it was about.
    pub parent_message_id: Option<String>,
    /// The id that the event was first delivered with, where that message stood in for it.
    pub inbox_message_id: Option<String>,
    /// How many retries came before.
    pub retry_count: Option<u32>,
    /// Milliseconds its message waited in the queue.
    pub queue_time_ms: Option<i64>,
    /// Milliseconds from the receipt of its message to the report.
    pub processing_time_ms: Option<i64>,
    /// What went wrong or is waited for.
    pub details: Details,
    /// The state that the event came to by it; `None` when it stayed where it was.
    pub moved_to: Option<EventState>,
}

/// The columns of an event, of its row as `event` and of the report that led to its state.
pub(super) const EVENT_COLUMNS: &str = "event.endpoint, event.event_id, event.event_key, \
     event.message_id, event.state, event.state_since, event.event_type, event.session_id, \
     event.correlation_id, event.originating_message_id, event.originating_from, \
     event.cloud_event_id, event.cloud_event_source, event.cloud_event_type, \
     event.cloud_event_subject, event.retry_count, event.reports, event.duplicates, \
     event.first_seen, event.last_seen, event.event_json is not null, report.error_type, \
     report.error_text, report.dead_letter_reason, report.dead_letter_description, \
     report.handoff_reason, report.external_job_id, report.expected_by, report.next_retry_at";

pub(super) fn event(row: &Row<'_>) -> rusqlite::Result<EventRecord> {
    let event_id: Option<String> = row.get(1)?;
    let column: String = row.get(2)?;
    let subject = match event_id {
        Some(id) => Subject::Event(EventId::new(id)),
        None => Subject::Message(column.trim_start_matches("message:").to_owned()),
    };
    Ok(EventRecord {
        key: EventKey {
            endpoint: Address::new(row.get::<_, String>(0)?),
            subject,
        },
        message_id: row.get(3)?,
        state: state(row, 4)?,
        state_since: moment(row, 5)?,
        identity: EventIdentity {
            event_type: row.get(6)?,
            session_id: row.get(7)?,
            correlation_id: row.get(8)?,
            originating_message_id: row.get(9)?,
            originating_from: row.get(10)?,
            cloud_event_id: row.get(11)?,
            cloud_event_source: row.get(12)?,
            cloud_event_type: row.get(13)?,
            cloud_event_subject: row.get(14)?,
        },
        retry_count: row.get(15)?,
        reports: count(row, 16)?,
        duplicates: count(row, 17)?,
        first_seen: moment(row, 18)?,
        last_seen: moment(row, 19)?,
        has_content: row.get(20)?,
        details: details(row, 21)?,
        content: None,
    })
}

/// Eight columns from `at` on.
pub(super) fn details(row: &Row<'_>, at: usize) -> rusqlite::Result<Details> {
    let instant = |index| -> rusqlite::Result<Option<Timestamp>> {
        Ok(row
            .get::<_, Option<i64>>(index)?
            .map(Timestamp::from_unix_ticks))
    };
    Ok(Details {
        error_type: row.get(at)?,
        error_text: row.get(at + 1)?,
        dead_letter_reason: row.get(at + 2)?,
        dead_letter_description: row.get(at + 3)?,
        handoff_reason: row.get(at + 4)?,
        external_job_id: row.get(at + 5)?,
        expected_by: instant(at + 6)?,
        next_retry_at: instant(at + 7)?,
    })
}

pub(super) fn count(row: &Row<'_>, index: usize) -> rusqlite::Result<u64> {
    row.get::<_, i64>(index).map(i64::unsigned_abs)
}

pub(super) fn moment(row: &Row<'_>, index: usize) -> rusqlite::Result<Timestamp> {
    row.get(index).map(Timestamp::from_unix_ticks)
}

pub(super) fn state(row: &Row<'_>, index: usize) -> rusqlite::Result<EventState> {
    let name: String = row.get(index)?;
    EventState::from_name(&name).ok_or_else(|| unknown(index, "state", &name))
}

pub(super) fn kind(row: &Row<'_>, index: usize) -> rusqlite::Result<ReportKind> {
    let name: String = row.get(index)?;
    ReportKind::from_name(&name).ok_or_else(|| unknown(index, "kind of report", &name))
}

fn unknown(index: usize, what: &str, name: &str) -> rusqlite::Error {
    let problem = format!("{name:?} is no {what} of this version");
    rusqlite::Error::FromSqlConversionFailure(index, Type::Text, problem.into())
}
