use nimbus_inbox_core::Timestamp;
use nimbus_resolver::{Details, EventRecord, HistoryEntry};
use serde::Serialize;

use super::{Table, cut, fields, instant};

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
fn message_of(event: &EventRecord) -> Option<String> {
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

/// How wide a reason may be in a table.
const REASON: usize = 60;

impl EventView {
    /// A table of events.
    pub(crate) fn table(events: &[EventRecord]) -> String {
        let mut table = Table::new(&[
            "event",
            "endpoint",
            "state",
            "since",
            "type",
            "session",
            "duplicates",
            "why",
        ]);
        for event in events {
            table.row([
                event.key.subject.as_str().to_owned(),
                event.key.endpoint.as_str().to_owned(),
                event.state.to_string(),
                instant(event.state_since),
                or_dash(event.identity.event_type.as_deref()),
                or_dash(event.identity.session_id.as_deref()),
                event.duplicates.to_string(),
                cut(&why(&event.details), REASON),
            ]);
        }
        table.render()
    }

    /// Everything about one event.
    pub(crate) fn page(event: &EventRecord, history: &[HistoryEntry]) -> String {
        let (identity, details) = (event.identity.clone(), &event.details);
        let cloud = [
            identity.cloud_event_source,
            identity.cloud_event_type,
            identity.cloud_event_id,
        ];
        let cloud = cloud.into_iter().flatten().collect::<Vec<_>>().join(" ");
        let mut text = fields(&[
            (
                "event",
                event.key.event_id().map(|id| id.as_str().to_owned()),
            ),
            ("message", message_of(event)),
            ("endpoint", Some(event.key.endpoint.as_str().to_owned())),
            ("type", identity.event_type),
            ("session", identity.session_id),
            ("correlation", identity.correlation_id),
            ("originating", identity.originating_message_id),
            ("cloud event", Some(cloud).filter(|cloud| !cloud.is_empty())),
            (
                "state",
                Some(format!(
                    "{}, since {}",
                    event.state,
                    instant(event.state_since)
                )),
            ),
            ("error", error(details)),
            ("next retry", details.next_retry_at.map(instant)),
            ("handed off", details.handoff_reason.clone()),
            ("external job", details.external_job_id.clone()),
            ("expected by", details.expected_by.map(instant)),
            ("retries", event.retry_count.map(|count| count.to_string())),
            ("duplicates", Some(event.duplicates.to_string())),
            ("first heard of", Some(instant(event.first_seen))),
            ("last heard of", Some(instant(event.last_seen))),
            (
                "content",
                (!event.has_content).then(|| "not known, so it can't be resubmitted".to_owned()),
            ),
        ]);
        text.push('\n');
        text.push_str(&Self::history(history));
        text
    }

    /// A table of reports.
    pub(crate) fn history(history: &[HistoryEntry]) -> String {
        let mut table = Table::new(&[
            "sent",
            "report",
            "about",
            "moved to",
            "retry",
            "queued ms",
            "took ms",
            "message",
            "why",
        ]);
        let number = |number: Option<i64>| or_dash(number.map(|it| it.to_string()).as_deref());
        for entry in history {
            table.row([
                instant(entry.occurred_at),
                entry.kind.to_string(),
                entry.cause.to_string(),
                entry
                    .moved_to
                    .map_or("-", nimbus_resolver::EventState::as_str)
                    .to_owned(),
                number(entry.retry_count.map(i64::from)),
                number(entry.queue_time_ms),
                number(entry.processing_time_ms),
                cut(&or_dash(entry.parent_message_id.as_deref()), 40),
                cut(&why(&entry.details), REASON),
            ]);
        }
        table.render()
    }
}

/// In a few words.
fn why(details: &Details) -> String {
    let handed_off = details.handoff_reason.as_ref().map(|reason| {
        let job = details.external_job_id.as_deref();
        job.map_or_else(|| reason.clone(), |job| format!("{reason} (job {job})"))
    });
    let why = error(details).or(handed_off).unwrap_or_default();
    match details.next_retry_at {
        Some(at) => format!("retry at {}: {why}", instant(at)),
        None => why,
    }
}

fn error(details: &Details) -> Option<String> {
    if let Some(reason) = &details.dead_letter_reason {
        let description = details.dead_letter_description.as_deref();
        return Some(format!(
            "{reason}: {}",
            description.unwrap_or("no description")
        ));
    }
    match (&details.error_type, &details.error_text) {
        (Some(kind), Some(text)) => Some(format!("{kind}: {text}")),
        (kind, text) => text.clone().or_else(|| kind.clone()),
    }
}

fn or_dash(text: Option<&str>) -> String {
    text.unwrap_or("-").to_owned()
}
