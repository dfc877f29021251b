use std::fmt;

macro_rules! message_types {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// What a message asks or tells (SUB-01). On the wire, the name.
        #[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
        pub enum MessageType {
            /// Absent, or a name that this version does not know.
            #[default]
            Unknown,
            $($(#[$doc])* $name,)*
        }

        impl MessageType {
            /// The name on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self {
                    Self::Unknown => "Unknown",
                    $(Self::$name => stringify!($name),)*
                }
            }

            /// Reads a name, ignoring ASCII case as the .NET peer does.
            #[must_use]
            pub fn from_wire(name: &str) -> Self {
                $(if name.eq_ignore_ascii_case(stringify!($name)) {
                    return Self::$name;
                })*
                Self::Unknown
            }
        }
    };
}

message_types! {
    /// An event to handle.
    EventRequest,
    /// An event failed, or was dead-lettered.
    ErrorResponse,
    /// An event completed.
    ResolutionResponse,
    /// An event was parked behind a blocked session.
    DeferralResponse,
    /// An event was skipped: by an operator, as a duplicate, or discarded.
    SkipResponse,
    /// An operator asks to handle a failed event again.
    ResubmissionRequest,
    /// An operator asks to give up on a failed event.
    SkipRequest,
    /// A scheduled new attempt at a failed event.
    RetryRequest,
    /// The next message of the older, broker-native deferral is due.
    ContinuationRequest,
    /// No handler takes the event's type.
    UnsupportedResponse,
    /// The session's parked copies are due.
    ProcessDeferredRequest,
    /// The work was handed to an external job.
    PendingHandoffResponse,
    /// The external job completed.
    HandoffCompletedRequest,
    /// The external job failed.
    HandoffFailedRequest,
}

impl fmt::Display for MessageType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
