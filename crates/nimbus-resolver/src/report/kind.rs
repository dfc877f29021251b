use std::fmt;

use crate::EventState;

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident = $text:literal, $state:expr;)*) => {
        /// What a message tells of an event.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum ReportKind {
            $($(#[$doc])* $name,)*
        }

        impl ReportKind {
            /// Every kind.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name in databases and in JSON.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// The state that stands for it, where there is one.
            pub(crate) const fn own_state(self) -> Option<EventState> {
                match self {
                    $(Self::$name => $state,)*
                }
            }
        }
    };
}

kinds! {
    /// The event was published.
    Requested = "requested", Some(EventState::Pending);
    /// An operator asks to handle it again.
    Resubmitted = "resubmitted", Some(EventState::Pending);
    /// A retry or another command of an operator is on its way.
    Noted = "noted", None;
    /// It was set aside behind others.
    Deferred = "deferred", Some(EventState::Deferred);
    /// Its handler failed, and no retry is left.
    Failed = "failed", Some(EventState::Failed);
    /// Its handler failed, and a retry is scheduled.
    RetryScheduled = "retry-scheduled", Some(EventState::RetryScheduled);
    /// It was dead-lettered.
    DeadLettered = "dead-lettered", Some(EventState::DeadLettered);
    /// A command about it was dead-lettered, such as one that an operator did not give.
    Refused = "refused", None;
    /// It completed.
    Completed = "completed", Some(EventState::Completed);
    /// An operator gave it up.
    Skipped = "skipped", Some(EventState::Skipped);
    /// It was discarded.
    Discarded = "discarded", Some(EventState::Discarded);
    /// A message was recognised as done before, and nothing ran.
    Duplicate = "duplicate", Some(EventState::Duplicate);
    /// No handler takes it.
    Unsupported = "unsupported", Some(EventState::Unsupported);
    /// Its work was handed to an external job.
    PendingHandoff = "pending-handoff", Some(EventState::PendingHandoff);
}

impl ReportKind {
    /// Whether it tells that a message was tried, so that its id was not on record, and that it did
    /// not succeed.
    pub(crate) const fn is_attempt_without_success(self) -> bool {
        matches!(
            self,
            Self::Failed
                | Self::RetryScheduled
                | Self::DeadLettered
                | Self::Discarded
                | Self::Unsupported
                | Self::PendingHandoff
        )
    }

    /// Reads a [name](Self::as_str).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut kinds = Self::ALL.iter().copied();
        kinds.find(|kind| kind.as_str() == name)
    }
}

impl fmt::Display for ReportKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
