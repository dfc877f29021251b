use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

use crate::model::{ErrorContent, EventId};

/// The state of one session (SUB-07), stored as JSON under these names.
///
/// Members that this version does not know survive a rewrite; state written by older versions and
/// by the .NET peer reads. `BlockedByHandoff`, `BlockedByError` and `BlockedRetryCount` are this
/// project's own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub struct SessionState {
    /// The event that blocks the session.
    #[serde(default, deserialize_with = "none_if_empty")]
    pub blocked_by_event_id: Option<EventId>,
    /// Source message id of the blocking delivery (INB-17); absent when it is unusable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by_message_id: Option<String>,
    /// Names this very block, so that a late retry can't release a later one (SUB-11).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub block_id: Option<String>,
    /// The block waits for an external job, not for a retry or an operator.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "is_default"
    )]
    pub blocked_by_handoff: bool,
    /// The failure that blocks, kept so that a redelivery can repeat the retry decision (SUB-10).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked_by_error: Option<ErrorContent>,
    /// The last retry of the blocking event that failed, 0 before the first; a repeat of it is not
    /// a new attempt.
    #[serde(
        default,
        deserialize_with = "null_as_default",
        skip_serializing_if = "is_default"
    )]
    pub blocked_retry_count: u32,
    /// How many sequence numbers below the next one are not settled (SUB-36).
    #[serde(default, deserialize_with = "null_as_default")]
    pub deferred_count: i64,
    /// The sequence number that the next parked copy takes.
    #[serde(default, deserialize_with = "null_as_default")]
    pub next_deferral_sequence: i64,
    /// References of the older, broker-native deferral, oldest first.
    #[serde(default, deserialize_with = "null_as_default")]
    pub deferred_sequence_numbers: Vec<i64>,
    /// The reference of the older deferral that is being dispatched (SUB-17).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_flight_sequence_number: Option<i64>,
    /// Members that this version does not know.
    #[serde(flatten)]
    pub unknown: Map<String, Value>,
}

impl SessionState {
    /// Reads stored state; nothing stored is the state of a fresh session.
    ///
    /// # Errors
    ///
    /// When the bytes are not the JSON of a session state.
    pub fn from_json(json: &[u8]) -> Result<Self, serde_json::Error> {
        if json.trim_ascii().is_empty() || json.trim_ascii() == b"null" {
            return Ok(Self::default());
        }
        serde_json::from_slice(json)
    }

    /// Writes the state for storage.
    #[must_use]
    pub fn to_json(&self) -> String {
        // Keys are strings and values are JSON already, so this can't fail; an empty text would
        // read back as a fresh session.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// `true` while an event blocks the session.
    #[must_use]
    pub fn is_blocked(&self) -> bool {
        self.blocked_by_event_id.is_some()
    }

    /// `true` while `event` blocks the session.
    #[must_use]
    pub fn is_blocked_by(&self, event: Option<&EventId>) -> bool {
        event.is_some() && self.blocked_by_event_id.as_ref() == event
    }

    /// `true` while messages wait their turn behind nothing but each other: a fresh delivery goes
    /// to the tail instead of overtaking them (SUB-36).
    #[must_use]
    pub fn is_draining(&self) -> bool {
        !self.is_blocked() && self.has_deferred()
    }

    /// `true` while any message of the session is set aside.
    #[must_use]
    pub fn has_deferred(&self) -> bool {
        self.deferred_count > 0
            || !self.deferred_sequence_numbers.is_empty()
            || self.in_flight_sequence_number.is_some()
    }

    /// The lowest sequence number that is not settled (SUB-36).
    #[must_use]
    pub fn lowest_unsettled(&self) -> i64 {
        self.next_deferral_sequence
            .saturating_sub(self.deferred_count)
    }

    /// Takes the next sequence number for a parked copy (SUB-35).
    pub fn count_parked(&mut self) {
        self.deferred_count = self.deferred_count.saturating_add(1);
        self.next_deferral_sequence = self.next_deferral_sequence.saturating_add(1);
    }

    /// Everything up to and with `sequence` is settled. Never raises the count (SUB-36).
    pub fn settle_up_to(&mut self, sequence: i64) {
        let left = self
            .next_deferral_sequence
            .saturating_sub(sequence.saturating_add(1));
        self.deferred_count = self.deferred_count.min(left.max(0));
    }

    /// Nothing is parked any more, whatever the count says (SUB-37).
    pub fn settle_all(&mut self) {
        self.deferred_count = 0;
    }

    /// Moves the next reference of the older deferral to the one in flight, where there is none
    /// yet (SUB-17).
    pub fn take_deferred(&mut self) {
        if self.in_flight_sequence_number.is_none() && !self.deferred_sequence_numbers.is_empty() {
            let next = self.deferred_sequence_numbers.remove(0);
            self.in_flight_sequence_number = Some(next);
        }
    }

    /// Gives the reference in flight its turn back; never doubles it (SUB-17).
    pub fn restore_in_flight(&mut self) {
        if let Some(number) = self.in_flight_sequence_number.take()
            && !self.deferred_sequence_numbers.contains(&number)
        {
            self.deferred_sequence_numbers.insert(0, number);
        }
    }

    /// The message of the reference in flight is settled (SUB-17).
    pub fn settle_in_flight(&mut self) {
        self.in_flight_sequence_number = None;
    }

    /// Releases the block and forgets whose it was (INB-17).
    pub fn unblock(&mut self) {
        self.blocked_by_event_id = None;
        self.blocked_by_message_id = None;
        self.block_id = None;
        self.blocked_by_handoff = false;
        self.blocked_by_error = None;
        self.blocked_retry_count = 0;
    }
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::deserialize(deserializer).map(Option::unwrap_or_default)
}

/// A .NET peer clears a block with an empty text or with null.
fn none_if_empty<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EventId>, D::Error> {
    let id: Option<EventId> = Option::deserialize(deserializer)?;
    Ok(id.filter(|id| !id.as_str().is_empty()))
}
