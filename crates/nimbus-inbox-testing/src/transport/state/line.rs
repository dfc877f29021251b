use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Envelope, SessionId};
use tokio_util::sync::CancellationToken;

use crate::transport::ProcessId;

/// Names what is locked as one: a session, or a message that has none.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::transport) enum LineKey {
    Session(SessionId),
    Message(i64),
}

impl LineKey {
    /// The line of a message; an empty session name is none.
    pub(super) fn of(envelope: &Envelope, sequence: i64) -> Self {
        envelope
            .session_id
            .as_deref()
            .and_then(SessionId::new)
            .map_or(Self::Message(sequence), Self::Session)
    }

    pub(in crate::transport) fn session(&self) -> Option<&SessionId> {
        match self {
            Self::Session(session) => Some(session),
            Self::Message(_) => None,
        }
    }
}

impl fmt::Display for LineKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Session(session) => write!(f, "session {session:?}"),
            Self::Message(sequence) => write!(f, "message {sequence}, which has no session"),
        }
    }
}

/// A message as the broker keeps it.
#[derive(Debug, Clone)]
pub(in crate::transport) struct StoredMessage {
    pub(in crate::transport) envelope: Arc<Envelope>,
    pub(in crate::transport) enqueued_at: Timestamp,
    pub(in crate::transport) delivery_count: u32,
    /// Not delivered before; later than now after an abandon with a delay.
    pub(in crate::transport) available_at: Timestamp,
    pub(in crate::transport) in_flight: bool,
}

impl StoredMessage {
    pub(super) fn new(envelope: Arc<Envelope>, now: Timestamp) -> Self {
        Self {
            envelope,
            enqueued_at: now,
            delivery_count: 0,
            available_at: now,
            in_flight: false,
        }
    }

    /// Hands the message out under the line's lock.
    pub(super) fn take(&mut self, sequence: i64) -> Taken {
        self.in_flight = true;
        self.delivery_count = self.delivery_count.saturating_add(1);
        Taken {
            sequence,
            message: self.clone(),
        }
    }
}

/// A message that was handed out.
#[derive(Debug)]
pub(in crate::transport) struct Taken {
    pub(in crate::transport) sequence: i64,
    pub(in crate::transport) message: StoredMessage,
}

impl Taken {
    pub(in crate::transport) fn envelope(&self) -> Arc<Envelope> {
        Arc::clone(&self.message.envelope)
    }
}

/// The lock of one receiver on a line.
#[derive(Debug, Clone)]
pub(in crate::transport) struct Lock {
    pub(in crate::transport) id: u64,
    pub(in crate::transport) owner: ProcessId,
    pub(in crate::transport) expires_at: Timestamp,
    pub(in crate::transport) lost: CancellationToken,
    /// Cancelled when the holder gave the line back.
    pub(in crate::transport) released: CancellationToken,
}

/// The messages of one session in order, those set aside by their number, and who holds them.
#[derive(Debug, Default)]
pub(super) struct Line {
    pub(super) messages: BTreeMap<i64, StoredMessage>,
    pub(super) deferred: BTreeMap<i64, StoredMessage>,
    pub(super) lock: Option<Lock>,
}

impl Line {
    /// The message that comes next, whether or not it is due.
    pub(super) fn head(&self) -> Option<(i64, &StoredMessage)> {
        self.messages
            .first_key_value()
            .map(|(sequence, message)| (*sequence, message))
    }

    pub(super) fn is_over(&self) -> bool {
        self.lock.is_none() && self.messages.is_empty() && self.deferred.is_empty()
    }
}
