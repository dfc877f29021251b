use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Headers, MessageType};

use super::cut;
use crate::handler::Handoff;

/// What happened to a message.
#[derive(Debug, Clone)]
pub(crate) enum Outcome {
    /// The event completed.
    Resolved,
    /// The work was done before; nothing ran (INB-09).
    Duplicate,
    /// An operator gave the event up (SUB-13).
    Skipped,
    /// The event is set aside behind others.
    Deferred,
    /// The event is of no more use.
    Discarded {
        error_type: String,
        text: String,
        classifier: &'static str,
    },
    /// The handler failed.
    Failed {
        error_type: String,
        text: String,
        /// When it is tried again, if it is.
        next_retry_at: Option<Timestamp>,
    },
    /// The message is set aside for an operator.
    DeadLettered { reason: String, description: String },
    /// No handler takes the event's type.
    Unsupported { event_type: String },
    /// The work goes on in an external job.
    PendingHandoff(Handoff),
}

impl Outcome {
    pub(crate) fn message_type(&self) -> MessageType {
        match self {
            Self::Resolved => MessageType::ResolutionResponse,
            Self::Duplicate | Self::Skipped | Self::Discarded { .. } => MessageType::SkipResponse,
            Self::Deferred => MessageType::DeferralResponse,
            Self::Failed { .. } | Self::DeadLettered { .. } => MessageType::ErrorResponse,
            Self::Unsupported { .. } => MessageType::UnsupportedResponse,
            Self::PendingHandoff(_) => MessageType::PendingHandoffResponse,
        }
    }

    /// Adds what this outcome says to the headers; returns the error's type and text, if any.
    pub(super) fn write(self, headers: &mut Headers) -> Option<(Option<String>, String)> {
        match self {
            Self::Resolved | Self::Skipped | Self::Deferred => None,
            Self::Duplicate => Some((None, "DuplicateDetected".to_owned())),
            Self::Discarded {
                error_type,
                text,
                classifier,
            } => {
                let (error_type, text) = (cut(&error_type).to_owned(), cut(&text));
                let said = format!("{error_type}: {text} Classified as Discard by {classifier}.");
                Some((Some(error_type), said))
            }
            Self::Failed {
                error_type,
                text,
                next_retry_at,
            } => {
                headers.next_retry_at = next_retry_at;
                Some((Some(error_type), text))
            }
            Self::DeadLettered {
                reason,
                description,
            } => {
                let description = cut(&description).to_owned();
                headers.dead_letter_reason = Some(cut(&reason).to_owned());
                headers.dead_letter_error_description = Some(description.clone());
                Some((Some(reason), description))
            }
            Self::Unsupported { event_type } => Some((
                None,
                format!("no handler on this endpoint takes events of type {event_type:?}"),
            )),
            Self::PendingHandoff(handoff) => {
                headers.handoff_reason = Some(handoff.reason);
                headers.external_job_id = handoff.external_job_id;
                headers.expected_by = handoff.expected_by;
                None
            }
        }
    }
}
