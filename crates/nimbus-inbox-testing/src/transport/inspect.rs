use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Address, Envelope, ParkedCopy, SessionId, SessionState};

use super::state::{Queue, Stored};
use super::{BrokerCall, InMemoryBroker, ProcessId};

/// A message that waits in a queue.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct QueuedMessage {
    /// The message.
    pub envelope: Envelope,
    /// The broker's number for it, in the order of enqueueing.
    pub sequence_number: i64,
    /// How often it was delivered.
    pub delivery_count: u32,
    /// When the broker accepted it, or when it became due.
    pub enqueued_at: Timestamp,
    /// Where it stands.
    pub status: MessageStatus,
}

/// Where a queued message stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum MessageStatus {
    /// It is delivered when its turn comes.
    Ready,
    /// It was abandoned and holds the head of its line until then.
    HeldUntil(Timestamp),
    /// A receiver has it.
    InFlight,
    /// It was deferred and is fetched by its sequence number.
    Deferred,
}

/// A message that was set aside for an operator.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct DeadLetter {
    /// The message.
    pub envelope: Envelope,
    /// The broker's number for it.
    pub sequence_number: i64,
    /// How often it was delivered.
    pub delivery_count: u32,
    /// The reason given, or `MaxDeliveryCountExceeded`.
    pub reason: String,
    /// The description given.
    pub description: String,
}

/// An effect and when it happened.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct LoggedCall {
    /// When it happened.
    pub at: Timestamp,
    /// The call it belongs to.
    pub call: BrokerCall,
}

/// Looks into a queue. All of these panic when the address is not declared, which in a test is a
/// mistyped name.
impl InMemoryBroker {
    /// What waits at an address in order, whatever its status; scheduled messages not included.
    ///
    /// # Panics
    ///
    /// When `address` is not declared.
    #[must_use]
    pub fn messages(&self, address: impl Into<Address>) -> Vec<QueuedMessage> {
        let now = self.now();
        self.inspect(&address.into(), |queue| {
            let stored = queue.stored();
            stored.map(|stored| queued_message(&stored, now)).collect()
        })
    }

    /// The envelopes of [`messages`](Self::messages): at an address that nothing receives from,
    /// such as `Resolver` in most tests, everything sent to it.
    ///
    /// # Panics
    ///
    /// When `address` is not declared.
    #[must_use]
    pub fn envelopes(&self, address: impl Into<Address>) -> Vec<Envelope> {
        self.inspect(&address.into(), |queue| {
            let stored = queue.stored();
            stored
                .map(|stored| Envelope::clone(&stored.message.envelope))
                .collect()
        })
    }

    /// What is scheduled at an address, and for when, by due time.
    ///
    /// # Panics
    ///
    /// When `address` is not declared.
    #[must_use]
    pub fn scheduled(&self, address: impl Into<Address>) -> Vec<(Timestamp, Envelope)> {
        self.inspect(&address.into(), |queue| {
            let scheduled = queue.scheduled();
            scheduled
                .map(|(due, envelope)| (due, Envelope::clone(envelope)))
                .collect()
        })
    }

    /// What was dead-lettered at an address, oldest first.
    ///
    /// # Panics
    ///
    /// When `address` is not declared.
    #[must_use]
    pub fn dead_letters(&self, address: impl Into<Address>) -> Vec<DeadLetter> {
        self.inspect(&address.into(), |queue| queue.dead_letters.clone())
    }

    /// The state of a session; that of a fresh session where nothing is stored.
    ///
    /// # Panics
    ///
    /// When `endpoint` is not declared, or the stored text is not the JSON of a state.
    #[must_use]
    pub fn session_state(&self, endpoint: impl Into<Address>, session: &SessionId) -> SessionState {
        let json = self.session_json(endpoint, session);
        SessionState::from_json(json.as_bytes())
            .expect("the stored text is not the JSON of a session state")
    }

    /// The stored text of a session's state; empty where nothing is stored.
    ///
    /// # Panics
    ///
    /// When `endpoint` is not declared.
    #[must_use]
    pub fn session_json(&self, endpoint: impl Into<Address>, session: &SessionId) -> String {
        self.inspect(&endpoint.into(), |queue| {
            queue.session(session).json().to_owned()
        })
    }

    /// Stores a text as a session's state, as an older version or another program would have
    /// written it, and raises its version.
    ///
    /// # Panics
    ///
    /// When `endpoint` is not declared.
    pub fn put_session_json(
        &self,
        endpoint: impl Into<Address>,
        session: &SessionId,
        json: impl Into<String>,
    ) {
        self.inspect(&endpoint.into(), |queue| {
            queue.session(session).put_json(json.into());
        });
    }

    /// The parked copies of a session by sequence, then id.
    ///
    /// # Panics
    ///
    /// When `endpoint` is not declared.
    #[must_use]
    pub fn parked(&self, endpoint: impl Into<Address>, session: &SessionId) -> Vec<ParkedCopy> {
        self.inspect(&endpoint.into(), |queue| {
            queue.session(session).parked(std::num::NonZeroU32::MAX)
        })
    }

    /// Which process holds a session locked.
    ///
    /// # Panics
    ///
    /// When `endpoint` is not declared.
    #[must_use]
    pub fn lock_owner(
        &self,
        endpoint: impl Into<Address>,
        session: &SessionId,
    ) -> Option<ProcessId> {
        self.inspect(&endpoint.into(), |queue| queue.lock_owner(session))
    }

    pub(super) fn inspect<T>(&self, address: &Address, look: impl FnOnce(&mut Queue) -> T) -> T {
        let now = self.now();
        let mut state = self.state();
        match state.queue(address, now) {
            Ok(queue) => look(queue),
            Err(error) => {
                // Unlocked first, so that the panic of a mistyped name poisons nothing.
                drop(state);
                panic!("{error}");
            }
        }
    }
}

fn queued_message(stored: &Stored<'_>, now: Timestamp) -> QueuedMessage {
    let message = stored.message;
    QueuedMessage {
        envelope: Envelope::clone(&message.envelope),
        sequence_number: stored.sequence,
        delivery_count: message.delivery_count,
        enqueued_at: message.enqueued_at,
        status: if message.in_flight {
            MessageStatus::InFlight
        } else if stored.deferred {
            MessageStatus::Deferred
        } else if message.available_at > now {
            MessageStatus::HeldUntil(message.available_at)
        } else {
            MessageStatus::Ready
        },
    }
}
