use std::time::Duration;

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{
    Address, Envelope, ErrorContent, Headers, MalformedMessage, MessageContent, MessageType,
    derived_message_id,
};

use super::{Cause, Details, EventIdentity, Report, ReportKind};
use crate::key::{EventKey, Subject};

/// The error text of a duplicate's `SkipResponse` (SUB-24).
const DUPLICATE: &str = "DuplicateDetected";

/// Reason of the dead letter that a command of somebody else becomes.
const NOT_FROM_MANAGER: &str = "NotFromManager";

/// Why a message tells nothing of an event, however often it is delivered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UnusableReport {
    /// It can't be read.
    #[error(transparent)]
    Malformed(#[from] MalformedMessage),
    /// It doesn't say which endpoint it is about.
    #[error("the {message_type} names no endpoint; an outcome has it in From, a request in To")]
    NoEndpoint {
        /// Its type.
        message_type: MessageType,
    },
    /// It has no id that an event could be known by.
    #[error("the {message_type} names neither an event nor a message")]
    NoSubject {
        /// Its type.
        message_type: MessageType,
    },
    /// It is none of the messages of NimBus.
    #[error("the application property MessageType is absent or names no message type")]
    UnknownMessageType,
}

impl Report {
    /// Reads a message as it came from the broker; `None` for one that tells nothing of an event.
    ///
    /// `enqueued_at` is when the broker accepted it, if it tells; `received_at` is now.
    ///
    /// # Errors
    ///
    /// [`UnusableReport`] when no delivery of it can be used.
    pub fn read(
        envelope: &Envelope,
        enqueued_at: Option<Timestamp>,
        received_at: Timestamp,
    ) -> Result<Option<Self>, UnusableReport> {
        let headers = Headers::read(envelope)?;
        let message_type = headers.message_type;
        let outcome = match message_type {
            MessageType::Unknown => return Err(UnusableReport::UnknownMessageType),
            // They are about a session.
            MessageType::ContinuationRequest | MessageType::ProcessDeferredRequest => {
                return Ok(None);
            }
            MessageType::EventRequest
            | MessageType::RetryRequest
            | MessageType::ResubmissionRequest
            | MessageType::SkipRequest
            | MessageType::HandoffCompletedRequest
            | MessageType::HandoffFailedRequest => false,
            _ => true,
        };
        let address = if outcome { &headers.from } else { &headers.to };
        let endpoint =
            named(address.as_ref()).ok_or(UnusableReport::NoEndpoint { message_type })?;
        let subject = if outcome {
            Subject::of(&headers)
        } else {
            requested(&headers)
        };
        let subject = subject.ok_or(UnusableReport::NoSubject { message_type })?;
        let content = MessageContent::decode(&envelope.body)?;
        let error = content.error_content.unwrap_or_default();

        let cause = if outcome {
            Cause::of(&headers)
        } else {
            Cause::default()
        };
        let occurred_at = enqueued_at.unwrap_or(received_at);
        let took = headers.processing_time_ms.unwrap_or(0);
        let took = Duration::from_millis(u64::try_from(took).unwrap_or(0));
        Ok(Some(Self {
            key: EventKey { endpoint, subject },
            kind: kind_of(&headers, &error, cause),
            cause,
            message_id: headers
                .message_id
                .clone()
                .unwrap_or_else(|| stand_in_id(envelope, enqueued_at)),
            occurred_at,
            began_at: occurred_at.saturating_sub(took),
            received_at,
            retry_count: headers.retry_count,
            queue_time_ms: headers.queue_time_ms,
            processing_time_ms: headers.processing_time_ms,
            parent_message_id: headers.parent_message_id.clone(),
            inbox_message_id: headers.inbox_message_id.clone(),
            details: details(&headers, error),
            identity: identity(headers, outcome),
            content: content
                .event_content
                .filter(|event| event.event_json.is_some()),
        }))
    }
}

fn named(address: Option<&Address>) -> Option<Address> {
    address
        .filter(|address| !address.as_str().trim().is_empty())
        .cloned()
}

/// The event that a request is about; a fresh one without an id is known by its message.
fn requested(headers: &Headers) -> Option<Subject> {
    let of_message = || {
        let source = headers.inbox_message_id.as_ref();
        source.or(headers.message_id.as_ref()).cloned()
    };
    let event = headers.event_id.clone().map(Subject::Event);
    event.or_else(|| of_message().map(Subject::Message))
}

fn kind_of(headers: &Headers, error: &ErrorContent, cause: Cause) -> ReportKind {
    match headers.message_type {
        MessageType::EventRequest => ReportKind::Requested,
        MessageType::ResubmissionRequest => ReportKind::Resubmitted,
        MessageType::ErrorResponse => match headers.dead_letter_reason.as_deref() {
            // A command that is refused says nothing of the event it names.
            Some(NOT_FROM_MANAGER) => ReportKind::Refused,
            Some(_) if cause == Cause::Command => ReportKind::Refused,
            Some(_) => ReportKind::DeadLettered,
            None if headers.next_retry_at.is_some() => ReportKind::RetryScheduled,
            None => ReportKind::Failed,
        },
        MessageType::ResolutionResponse => ReportKind::Completed,
        MessageType::DeferralResponse => ReportKind::Deferred,
        MessageType::SkipResponse => match error.error_text.as_deref() {
            Some(DUPLICATE) => ReportKind::Duplicate,
            Some(text) if !text.is_empty() => ReportKind::Discarded,
            _ => ReportKind::Skipped,
        },
        MessageType::UnsupportedResponse => ReportKind::Unsupported,
        MessageType::PendingHandoffResponse => ReportKind::PendingHandoff,
        _ => ReportKind::Noted,
    }
}

fn details(headers: &Headers, error: ErrorContent) -> Details {
    Details {
        error_type: error.error_type,
        error_text: error.error_text.filter(|text| text != DUPLICATE),
        dead_letter_reason: headers.dead_letter_reason.clone(),
        dead_letter_description: headers.dead_letter_error_description.clone(),
        handoff_reason: headers.handoff_reason.clone(),
        external_job_id: headers.external_job_id.clone(),
        expected_by: headers.expected_by,
        next_retry_at: headers.next_retry_at,
    }
}

fn identity(headers: Headers, outcome: bool) -> EventIdentity {
    let session_id = if outcome {
        headers.original_session_id
    } else {
        headers.session_id
    };
    EventIdentity {
        event_type: headers.event_type_id,
        session_id,
        correlation_id: headers.correlation_id,
        originating_message_id: headers.originating_message_id,
        originating_from: headers.originating_from,
        cloud_event_id: headers.cloud_event_id,
        cloud_event_source: headers.cloud_event_source,
        cloud_event_type: headers.cloud_event_type,
        cloud_event_subject: headers.cloud_event_subject,
    }
}

/// An id for a report without one that is the same in every delivery of it.
fn stand_in_id(envelope: &Envelope, enqueued_at: Option<Timestamp>) -> String {
    let properties: Vec<String> = envelope
        .properties
        .iter()
        .map(|(name, value)| format!("{name}={}", value.to_text()))
        .collect();
    let body = String::from_utf8_lossy(&envelope.body);
    let ticks = enqueued_at.map_or(0, Timestamp::unix_ticks).to_string();
    let mut parts: Vec<&str> = vec!["report", &ticks, &body];
    parts.extend(properties.iter().map(String::as_str));
    derived_message_id(&parts)
}
