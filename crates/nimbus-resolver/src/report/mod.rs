//! What a message at the resolver's address tells of an event.

mod cause;
mod kind;
mod read;

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{EventContent, MessageType};

pub use cause::Cause;
pub use kind::ReportKind;
pub use read::UnusableReport;

use crate::EventKey;

/// One report about one event.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Report {
    /// The event.
    pub key: EventKey,
    /// What it tells.
    pub kind: ReportKind,
    /// What kind of message it is about.
    pub cause: Cause,
    /// The report's own message id, by which a repeated delivery is recognised.
    pub message_id: String,
    /// When it was sent: the instant the broker accepted it, else that of its arrival.
    pub occurred_at: Timestamp,
    /// When what it tells of began.
    pub began_at: Timestamp,
    /// When it arrived.
    pub received_at: Timestamp,
    /// Who the event is.
    pub identity: EventIdentity,
    /// What went wrong or is waited for.
    pub details: Details,
    /// How many retries came before.
    pub retry_count: Option<u32>,
    /// Milliseconds its message waited in the queue.
    pub queue_time_ms: Option<i64>,
    /// Milliseconds from the receipt of its message to the report.
    pub processing_time_ms: Option<i64>,
    /// The message that it is about.
    pub parent_message_id: Option<String>,
    /// The id that the event was first delivered with, where that message stands in for it.
    pub inbox_message_id: Option<String>,
    /// The event itself.
    pub content: Option<EventContent>,
}

impl Report {
    /// What is known of a command once it was sent.
    pub(crate) fn of_command(
        key: EventKey,
        command: MessageType,
        message_id: String,
        sent_at: Timestamp,
    ) -> Self {
        Self {
            key,
            kind: match command {
                MessageType::ResubmissionRequest => ReportKind::Resubmitted,
                _ => ReportKind::Noted,
            },
            cause: Cause::Command,
            message_id,
            occurred_at: sent_at,
            began_at: sent_at,
            received_at: sent_at,
            identity: EventIdentity::default(),
            details: Details::default(),
            retry_count: None,
            queue_time_ms: None,
            processing_time_ms: None,
            parent_message_id: None,
            inbox_message_id: None,
            content: None,
        }
    }
}

/// Who an event is, as far as its messages say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventIdentity {
    /// The event's type.
    pub event_type: Option<String>,
    /// The session whose order it keeps.
    pub session_id: Option<String>,
    /// Its conversation.
    pub correlation_id: Option<String>,
    /// The first message of its causal chain.
    pub originating_message_id: Option<String>,
    /// Who sent that.
    pub originating_from: Option<String>,
    /// CloudEvents `id`.
    pub cloud_event_id: Option<String>,
    /// CloudEvents `source`.
    pub cloud_event_source: Option<String>,
    /// CloudEvents `type`.
    pub cloud_event_type: Option<String>,
    /// CloudEvents `subject`.
    pub cloud_event_subject: Option<String>,
}

/// What went wrong with an event, or what it waits for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Details {
    /// The kind of error.
    pub error_type: Option<String>,
    /// What happened.
    pub error_text: Option<String>,
    /// Why it was dead-lettered.
    pub dead_letter_reason: Option<String>,
    /// What was wrong then.
    pub dead_letter_description: Option<String>,
    /// Why the work was handed off.
    pub handoff_reason: Option<String>,
    /// The job that it was handed to.
    pub external_job_id: Option<String>,
    /// When that job is expected to be done.
    pub expected_by: Option<Timestamp>,
    /// When it is tried again.
    pub next_retry_at: Option<Timestamp>,
}
