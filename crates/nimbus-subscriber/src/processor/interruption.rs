use std::future::Future;
use std::time::Duration;

use nimbus_messaging::{MalformedMessage, TransportError, TransportErrorKind};

use crate::telemetry;

/// How long one call to a broker or a session store may take.
const CALL_BOUND: Duration = Duration::from_secs(30);

/// The reason of a message that can't be read.
pub(crate) const MALFORMED: &str = "MalformedMessage";

/// Why the processing of a message stopped before its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Interruption {
    /// The inbox store does not answer: abandon, and take no more until it does (SUB-30).
    StoreUnavailable,
    /// Something else outside is out of order: abandon.
    Transient,
    /// As [`Transient`](Self::Transient), and the broker may still hold a fetched message for this
    /// lane: give the lane back, or the message would seem to be gone (SUB-17).
    Unconfirmed,
    /// Another receiver has the session: stop, settle nothing (SUB-08).
    LockLost,
    /// The subscriber stops or lost its lock, before the handler returned: settle nothing (INB-14).
    Cancelled,
    /// No delivery of this message can succeed: dead-letter.
    Rejected {
        /// A short, fixed reason.
        reason: &'static str,
        /// What is wrong with the message.
        description: String,
    },
}

impl Interruption {
    pub(crate) fn from_transport(error: &TransportError) -> Self {
        match error.kind() {
            TransportErrorKind::LockLost => Self::LockLost,
            _ => Self::Transient,
        }
    }
}

impl Interruption {
    /// Says in the span around the message why it ended. A stop is no failure.
    pub(crate) fn mark_span(&self) {
        telemetry::failed(match self {
            Self::StoreUnavailable => "store_unavailable",
            Self::Transient | Self::Unconfirmed => "transient",
            Self::LockLost => "lock_lost",
            Self::Cancelled => return,
            Self::Rejected { reason, .. } => reason,
        });
    }
}

impl From<nimbus_inbox_core::Error> for Interruption {
    /// The inbox has logged the provider's error; no text of it goes further (INB-11).
    fn from(_: nimbus_inbox_core::Error) -> Self {
        Self::StoreUnavailable
    }
}

impl From<MalformedMessage> for Interruption {
    fn from(error: MalformedMessage) -> Self {
        Self::Rejected {
            reason: MALFORMED,
            description: error.to_string(),
        }
    }
}

/// Bounds a call, so that one that never answers is left for redelivery.
pub(crate) async fn bounded<T>(
    call: impl Future<Output = Result<T, TransportError>> + Send,
) -> Result<T, TransportError> {
    tokio::time::timeout(CALL_BOUND, call)
        .await
        .unwrap_or_else(|_| {
            Err(TransportError::transient(format!(
                "no answer within {CALL_BOUND:?}"
            )))
        })
}
