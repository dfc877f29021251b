use nimbus_resolver::{Details, EventRecord, EventState, HistoryEntry};

use super::event::message_of;
use super::{EventView, Table, cut, fields, instant};

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
                entry.moved_to.map_or("-", EventState::as_str).to_owned(),
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
