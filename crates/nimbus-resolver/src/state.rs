use std::fmt;

macro_rules! states {
    ($($(#[$doc:meta])* $name:ident = $text:literal;)*) => {
        /// What has become of an event.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum EventState {
            $($(#[$doc])* $name,)*
        }

        impl EventState {
            /// Every state.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The name in databases, in JSON and on the command line.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }
        }
    };
}

states! {
    /// On its way to a handler: published, or resubmitted by an operator.
    Pending = "pending";
    /// Handed to an external job that is not settled yet; it blocks its session.
    PendingHandoff = "pending-handoff";
    /// Set aside behind the event that blocks its session.
    Deferred = "deferred";
    /// Its handler failed and no retry is left: it waits for an operator, and blocks its session.
    Failed = "failed";
    /// Its handler failed and is tried again at a known time; until then it blocks its session.
    RetryScheduled = "retry-scheduled";
    /// Its handler, or the job that it was handed to, succeeded.
    Completed = "completed";
    /// An operator gave it up.
    Skipped = "skipped";
    /// Its failure was classified as one that needs no success.
    Discarded = "discarded";
    /// Done under its message id before any success of it was reported: a crash lost the report, or
    /// another event had the same message id.
    Duplicate = "duplicate";
    /// Set aside in the broker's dead-letter queue.
    DeadLettered = "dead-lettered";
    /// Its endpoint has no handler for its type.
    Unsupported = "unsupported";
}

impl EventState {
    /// Reads a [name](Self::as_str), in any case.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        let mut states = Self::ALL.iter().copied();
        states.find(|state| state.as_str().eq_ignore_ascii_case(name))
    }

    /// `true` when nothing more is expected to happen to the event.
    #[must_use]
    pub const fn is_settled(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Skipped | Self::Discarded | Self::Duplicate
        )
    }
}

impl fmt::Display for EventState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
