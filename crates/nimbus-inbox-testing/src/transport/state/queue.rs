use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Envelope, SessionId, Settlement, TransportError};
use tokio_util::sync::CancellationToken;

use super::dead::{dead_letter, over_the_limit, reached};
use super::line::{Line, LineKey, Lock, StoredMessage, Taken};
use super::session::SessionRecord;
use crate::transport::{DeadLetter, ProcessId};

/// What all queues of a broker go by.
#[derive(Debug, Clone, Copy)]
pub(in crate::transport) struct QueueRules {
    pub(in crate::transport) lock_duration: Duration,
    pub(in crate::transport) delivery_limit: Option<NonZeroU32>,
}

/// One endpoint's messages and sessions.
#[derive(Debug)]
pub(in crate::transport) struct Queue {
    rules: QueueRules,
    lines: BTreeMap<LineKey, Line>,
    /// The lines that have a lock: far fewer than there are lines in a long backlog.
    locked: BTreeSet<LineKey>,
    /// By due time, then by the order of scheduling.
    scheduled: BTreeMap<(Timestamp, u64), Arc<Envelope>>,
    pub(in crate::transport) dead_letters: Vec<DeadLetter>,
    sessions: BTreeMap<SessionId, SessionRecord>,
    next_sequence: i64,
    next_lock: u64,
}

impl Queue {
    pub(super) fn new(rules: QueueRules) -> Self {
        Self {
            rules,
            lines: BTreeMap::new(),
            locked: BTreeSet::new(),
            scheduled: BTreeMap::new(),
            dead_letters: Vec::new(),
            sessions: BTreeMap::new(),
            next_sequence: 1,
            next_lock: 1,
        }
    }

    pub(in crate::transport) fn push(&mut self, envelope: Arc<Envelope>, now: Timestamp) {
        let sequence = self.next_sequence;
        self.next_sequence += 1;
        self.lines
            .entry(LineKey::of(&envelope, sequence))
            .or_default()
            .messages
            .insert(sequence, StoredMessage::new(envelope, now));
    }

    /// Keeps a message until it is due; `number` names it.
    pub(in crate::transport) fn schedule(
        &mut self,
        number: u64,
        envelope: Arc<Envelope>,
        due: Timestamp,
    ) {
        self.scheduled.insert((due, number), envelope);
    }

    /// `false` when nothing of that number waits any more.
    pub(in crate::transport) fn cancel_scheduled(&mut self, number: u64) -> bool {
        let before = self.scheduled.len();
        self.scheduled.retain(|(_, kept), _| *kept != number);
        self.scheduled.len() < before
    }

    /// Ends the locks that ran out and enqueues the scheduled messages that became due by `now`.
    pub(super) fn catch_up(&mut self, now: Timestamp) {
        self.end_locks(|_, lock| lock.expires_at <= now);
        while let Some(entry) = self.scheduled.first_entry()
            && entry.key().0 <= now
        {
            let ((due, _), envelope) = entry.remove_entry();
            self.push(envelope, due);
        }
    }

    /// Ends the chosen locks as if they had run out.
    pub(in crate::transport) fn end_locks(&mut self, ends: impl Fn(&LineKey, &Lock) -> bool) {
        let lock_of = |key: &LineKey| self.lines.get(key).and_then(|line| line.lock.as_ref());
        let ended: Vec<_> = self
            .locked
            .iter()
            .filter(|key| lock_of(key).is_some_and(|lock| ends(key, lock)))
            .cloned()
            .collect();
        for key in ended {
            if let Some(lock) = self.unlock(&key) {
                lock.lost.cancel();
            }
        }
    }

    /// Takes the lock off a line; what was in flight goes back to its place.
    fn unlock(&mut self, key: &LineKey) -> Option<Lock> {
        let line = self.lines.get_mut(key)?;
        let lock = line.lock.take()?;
        self.locked.remove(key);
        let limit = self.rules.delivery_limit;
        for messages in [&mut line.messages, &mut line.deferred] {
            messages.retain(|sequence, message| {
                let returned = std::mem::take(&mut message.in_flight);
                let over = returned && reached(limit, message.delivery_count);
                if over {
                    self.dead_letters
                        .push(over_the_limit(*sequence, message.clone()));
                }
                !over
            });
        }
        if line.is_over() {
            self.lines.remove(key);
        }
        Some(lock)
    }

    /// The line that an accept locks next: of the unlocked ones whose head is due, the one whose
    /// head was enqueued first.
    pub(in crate::transport) fn acceptable(&self, now: Timestamp) -> Option<LineKey> {
        self.lines
            .iter()
            .filter(|(_, line)| line.lock.is_none())
            .filter_map(|(key, line)| line.head().map(|(sequence, head)| (sequence, head, key)))
            .filter(|(_, head, _)| head.available_at <= now)
            .min_by_key(|(sequence, _, _)| *sequence)
            .map(|(_, _, key)| key.clone())
    }

    /// Locks a line that [`acceptable`](Self::acceptable) named.
    pub(in crate::transport) fn lock(
        &mut self,
        key: &LineKey,
        owner: ProcessId,
        now: Timestamp,
    ) -> Lock {
        let lock = Lock {
            id: self.next_lock,
            owner,
            expires_at: now.saturating_add(self.rules.lock_duration),
            lost: CancellationToken::new(),
            released: CancellationToken::new(),
        };
        self.next_lock += 1;
        self.lines.entry(key.clone()).or_default().lock = Some(lock.clone());
        self.locked.insert(key.clone());
        lock
    }

    /// Extends a lock from `now`.
    pub(in crate::transport) fn renew(
        &mut self,
        key: &LineKey,
        lock: u64,
        now: Timestamp,
    ) -> Result<(), TransportError> {
        let duration = self.rules.lock_duration;
        let line = self.held(key, lock)?;
        if let Some(lock) = &mut line.lock {
            lock.expires_at = now.saturating_add(duration);
        }
        Ok(())
    }

    /// How long a lock still holds; `None` when it is gone.
    pub(in crate::transport) fn lock_left(
        &mut self,
        key: &LineKey,
        lock: u64,
        now: Timestamp,
    ) -> Option<Duration> {
        let line = self.held(key, lock).ok()?;
        let lock = line.lock.as_ref()?;
        Some(lock.expires_at.saturating_duration_since(now))
    }

    /// Gives a line back.
    pub(in crate::transport) fn release(
        &mut self,
        key: &LineKey,
        lock: u64,
    ) -> Result<(), TransportError> {
        self.held(key, lock)?;
        if let Some(lock) = self.unlock(key) {
            lock.released.cancel();
        }
        Ok(())
    }

    /// The head of a held line, if it is due and nothing of the line's order is in flight.
    pub(in crate::transport) fn take(
        &mut self,
        key: &LineKey,
        lock: u64,
        now: Timestamp,
    ) -> Result<Option<Taken>, TransportError> {
        let line = self.held(key, lock)?;
        Ok(line
            .messages
            .first_entry()
            .filter(|head| !head.get().in_flight && head.get().available_at <= now)
            .map(|mut head| {
                let sequence = *head.key();
                head.get_mut().take(sequence)
            }))
    }

    /// `true` when [`take`](Self::take) has something, without taking it.
    pub(in crate::transport) fn is_ready(
        &mut self,
        key: &LineKey,
        lock: u64,
        now: Timestamp,
    ) -> Result<bool, TransportError> {
        let line = self.held(key, lock)?;
        Ok(line
            .head()
            .is_some_and(|(_, head)| !head.in_flight && head.available_at <= now))
    }

    /// The deferred message of a held line with that number, unless it is in flight.
    pub(in crate::transport) fn take_deferred(
        &mut self,
        key: &LineKey,
        lock: u64,
        sequence: i64,
    ) -> Result<Option<Taken>, TransportError> {
        let line = self.held(key, lock)?;
        Ok(line
            .deferred
            .get_mut(&sequence)
            .filter(|message| !message.in_flight)
            .map(|message| message.take(sequence)))
    }

    /// Settles a message that was handed out under this lock.
    pub(in crate::transport) fn settle(
        &mut self,
        key: &LineKey,
        lock: u64,
        sequence: i64,
        settlement: Settlement,
        now: Timestamp,
    ) -> Result<(), TransportError> {
        let limit = self.rules.delivery_limit;
        let line = self.held(key, lock)?;
        let was_deferred = line.deferred.contains_key(&sequence);
        let home = if was_deferred {
            &mut line.deferred
        } else {
            &mut line.messages
        };
        let Some(mut message) = home.remove(&sequence) else {
            return Err(lock_lost(key));
        };
        message.in_flight = false;
        match settlement {
            Settlement::Complete => {}
            Settlement::Abandon { .. } if reached(limit, message.delivery_count) => {
                self.dead_letters.push(over_the_limit(sequence, message));
            }
            Settlement::Abandon { delay } => {
                message.available_at = now.saturating_add(delay);
                home.insert(sequence, message);
            }
            Settlement::Defer => {
                line.deferred.insert(sequence, message);
            }
            Settlement::DeadLetter {
                reason,
                description,
            } => self
                .dead_letters
                .push(dead_letter(sequence, message, reason, description)),
        }
        Ok(())
    }

    /// The line, if this lock still holds it.
    fn held(&mut self, key: &LineKey, lock: u64) -> Result<&mut Line, TransportError> {
        self.lines
            .get_mut(key)
            .filter(|line| line.lock.as_ref().is_some_and(|held| held.id == lock))
            .ok_or_else(|| lock_lost(key))
    }

    /// When something happens here without a call: a lock runs out or a message becomes due.
    pub(in crate::transport) fn next_change(&self, now: Timestamp) -> Option<Timestamp> {
        let lines = self.lines.values().flat_map(|line| {
            let head = line.head().map(|(_, head)| head.available_at);
            let lock = line.lock.as_ref().map(|lock| lock.expires_at);
            head.into_iter().chain(lock)
        });
        lines
            .chain(self.scheduled.keys().map(|(due, _)| *due))
            .filter(|instant| *instant > now)
            .min()
    }

    /// The record of a session; a fresh one where there is none.
    pub(in crate::transport) fn session(&mut self, session: &SessionId) -> &mut SessionRecord {
        self.sessions.entry(session.clone()).or_default()
    }

    pub(in crate::transport) fn lock_owner(&self, session: &SessionId) -> Option<ProcessId> {
        let line = self.lines.get(&LineKey::Session(session.clone()))?;
        line.lock.as_ref().map(|lock| lock.owner)
    }

    /// Everything that waits here, in the order of sequence numbers.
    pub(in crate::transport) fn stored(&self) -> impl Iterator<Item = Stored<'_>> {
        let mut stored: Vec<_> = self
            .lines
            .values()
            .flat_map(|line| {
                let waiting = line.messages.iter().map(|entry| (entry, false));
                waiting.chain(line.deferred.iter().map(|entry| (entry, true)))
            })
            .map(|((sequence, message), deferred)| Stored {
                sequence: *sequence,
                message,
                deferred,
            })
            .collect();
        stored.sort_unstable_by_key(|stored| stored.sequence);
        stored.into_iter()
    }

    /// What waits for its time, by due time.
    pub(in crate::transport) fn scheduled(
        &self,
    ) -> impl Iterator<Item = (Timestamp, &Arc<Envelope>)> {
        self.scheduled
            .iter()
            .map(|((due, _), envelope)| (*due, envelope))
    }
}

/// A message and where it stands, for inspection.
#[derive(Debug)]
pub(in crate::transport) struct Stored<'a> {
    pub(in crate::transport) sequence: i64,
    pub(in crate::transport) message: &'a StoredMessage,
    pub(in crate::transport) deferred: bool,
}

fn lock_lost(key: &LineKey) -> TransportError {
    TransportError::lock_lost(format!(
        "the lock on {key} is gone; what was not settled is delivered again"
    ))
}
