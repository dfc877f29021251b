use std::fmt;

use nimbus_messaging::{Headers, MessageType};

/// What kind of message a report is about.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Cause {
    /// The event itself, as it was published or parked.
    Event,
    /// A scheduled retry.
    Retry,
    /// An operator's resubmission.
    Resubmission,
    /// Another command of an operator: a skip, or a settled handoff.
    Command,
    /// The report doesn't tell, as those of a .NET peer.
    #[default]
    Unknown,
}

impl Cause {
    /// Every cause.
    pub const ALL: &[Self] = &[
        Self::Event,
        Self::Retry,
        Self::Resubmission,
        Self::Command,
        Self::Unknown,
    ];

    /// The name in databases and in JSON.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Retry => "retry",
            Self::Resubmission => "resubmission",
            Self::Command => "command",
            Self::Unknown => "unknown",
        }
    }

    /// Reads a [name](Self::as_str); one that this version doesn't know is unknown.
    #[must_use]
    pub fn from_name(name: &str) -> Self {
        let mut causes = Self::ALL.iter().copied();
        causes
            .find(|cause| cause.as_str() == name)
            .unwrap_or_default()
    }

    pub(super) fn of(outcome: &Headers) -> Self {
        match outcome.parent_message_type {
            Some(MessageType::EventRequest | MessageType::UnsupportedResponse) => Self::Event,
            Some(MessageType::RetryRequest) => Self::Retry,
            Some(MessageType::ResubmissionRequest) => Self::Resubmission,
            Some(
                MessageType::SkipRequest
                | MessageType::HandoffCompletedRequest
                | MessageType::HandoffFailedRequest,
            ) => Self::Command,
            // Only retries count.
            None if outcome.retry_count.is_some_and(|count| count > 0) => Self::Retry,
            _ => Self::Unknown,
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
