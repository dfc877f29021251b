use nimbus_inbox_core::Timestamp;
use nimbus_resolver::{Details, EventRecord, HistoryEntry};
use serde::Serialize;

/// An event in JSON. Names and meanings stay; more may be added.
#[derive(Debug, Serialize)]
pub(crate) struct EventView {
    endpoint: String,
    event_id: Option<String>,
    message_id: Option<String>,
    state: &'static str,
    state_since: String,
    event_type: Option<String>,
    session_id: Option<String>,
    correlation_id: Option<String>,
    originating_message_id: Option<String>,
    originating_from: Option<String>,
    cloud_event_id: Option<String>,
    cloud_event_source: Option<String>,
    cloud_event_type: Option<String>,
    cloud_event_subject: Option<String>,
    #[serde(flatten)]
    details: DetailsView,
    retry_count: Option<u32>,
    reports: u64,
    duplicates: u64,
    first_seen: String,
    last_seen: String,
    has_content: bool,
}

/// What went wrong or is waited for, in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct DetailsView {
    error_type: Option<String>,
    error_text: Option<String>,
    dead_letter_reason: Option<String>,
    dead_letter_description: Option<String>,
    handoff_reason: Option<String>,
    external_job_id: Option<String>,
    expected_by: Option<String>,
    next_retry_at: Option<String>,
}

/// One report about an event, in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct HistoryView {
    report: &'static str,
    about: &'static str,
    moved_to: Option<&'static str>,
    occurred_at: String,
    received_at: String,
    message_id: String,
    parent_message_id: Option<String>,
    inbox_message_id: Option<String>,
    retry_count: Option<u32>,
    queue_time_ms: Option<i64>,
    processing_time_ms: Option<i64>,
    #[serde(flatten)]
    details: DetailsView,
}

impl From<&EventRecord> for EventView {
    fn from(event: &EventRecord) -> Self {
        let identity = event.identity.clone();
        Self {
            endpoint: event.key.endpoint.as_str().to_owned(),
            event_id: event.key.event_id().map(|id| id.as_str().to_owned()),
            message_id: message_of(event),
            state: event.state.as_str(),
            state_since: event.state_since.to_string(),
            event_type: identity.event_type,
            session_id: identity.session_id,
            correlation_id: identity.correlation_id,
            originating_message_id: identity.originating_message_id,
            originating_from: identity.originating_from,
            cloud_event_id: identity.cloud_event_id,
            cloud_event_source: identity.cloud_event_source,
            cloud_event_type: identity.cloud_event_type,
            cloud_event_subject: identity.cloud_event_subject,
            details: (&event.details).into(),
            retry_count: event.retry_count,
            reports: event.reports,
            duplicates: event.duplicates,
            first_seen: event.first_seen.to_string(),
            last_seen: event.last_seen.to_string(),
            has_content: event.has_content,
        }
    }
}

/// An event without an id is known by its message.
pub(super) fn message_of(event: &EventRecord) -> Option<String> {
    let named = || match event.key.event_id() {
        None => Some(event.key.subject.as_str().to_owned()),
        Some(_) => None,
    };
    event.message_id.clone().or_else(named)
}

impl From<&Details> for DetailsView {
    fn from(details: &Details) -> Self {
        let details = details.clone();
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        Self {
            error_type: details.error_type,
            error_text: details.error_text,
            dead_letter_reason: details.dead_letter_reason,
            dead_letter_description: details.dead_letter_description,
            handoff_reason: details.handoff_reason,
            external_job_id: details.external_job_id,
            expected_by: text(details.expected_by),
            next_retry_at: text(details.next_retry_at),
        }
    }
}

impl From<&HistoryEntry> for HistoryView {
    fn from(entry: &HistoryEntry) -> Self {
        Self {
            report: entry.kind.as_str(),
            about: entry.cause.as_str(),
            moved_to: entry.moved_to.map(nimbus_resolver::EventState::as_str),
            occurred_at: entry.occurred_at.to_string(),
            received_at: entry.received_at.to_string(),
            message_id: entry.message_id.clone(),
            parent_message_id: entry.parent_message_id.clone(),
            inbox_message_id: entry.inbox_message_id.clone(),
            retry_count: entry.retry_count,
            queue_time_ms: entry.queue_time_ms,
            processing_time_ms: entry.processing_time_ms,
            details: (&entry.details).into(),
        }
    }
}
