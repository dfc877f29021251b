use nimbus_inbox_testing::{BrokerOperation, ProcessId};
use nimbus_messaging::{MessageType, SessionId, SessionState};

use super::fate::Settled;
use super::{Known, Oracle, Taken, Window};
use crate::event::Event;
use crate::outcome::Outcome;

impl Oracle {
    /// A process wrote the state of a session, or tried to.
    pub(crate) fn state_written(
        &self,
        process: ProcessId,
        session: &SessionId,
        operation: BrokerOperation,
        now: &SessionState,
        copies: &[i64],
    ) {
        let mut known = self.known();
        known.tick();
        let before = known.states.get(session).cloned().unwrap_or_default();
        if before == *now {
            return;
        }
        known.states.insert(session.clone(), now.clone());
        known.check_fence(process, session);
        known.check_block(process, &before, now);
        known.check_count(operation, &before, now);
        known.check_copies(now, copies);
        known.check_references(now);
    }

    /// The holder of a lane reads the state of a session for the first time. `pending` tells
    /// whether a receiver before it still has something to write.
    pub(crate) fn state_taken(
        &self,
        process: ProcessId,
        session: &SessionId,
        state: &SessionState,
        pending: bool,
    ) {
        let mut known = self.known();
        let at = known.tick();
        let Some(delivery) = known.deliveries.current(process) else {
            return;
        };
        let (delivery, stale) = (delivery.number, delivery.stale);
        known.taken.insert(session.clone(), Taken { at, delivery });
        let left = state.in_flight_sequence_number;
        if let Some(number) = left
            && !pending
            && !stale
            && !known.deliveries.any_died()
        {
            known.violate(|| {
                format!("reference {number} is left in flight by a receiver that lives (SUB-17)")
            });
        }
    }

    /// The state that an older version left.
    pub(crate) fn state_found(&self, session: &SessionId, state: SessionState) {
        self.known().states.insert(session.clone(), state);
    }
}

impl Known {
    /// SUB-08: once another receiver has read the state, the one before it writes no more.
    fn check_fence(&mut self, process: ProcessId, session: &SessionId) {
        let taken = self.taken.get(session).copied();
        let current = self.deliveries.current(process);
        let overtaken = taken.zip(current).is_some_and(|(taken, own)| {
            own.stale && own.stale_since < taken.at && own.number != taken.delivery
        });
        if overtaken {
            self.violate(|| format!("{process} writes {session} after its successor read it"));
        }
    }

    /// A block ends only when its event is settled, and none takes the place of another.
    fn check_block(&mut self, process: ProcessId, before: &SessionState, now: &SessionState) {
        let (was, is) = (blocker(before), blocker(now));
        let Some(delivery) = self.deliveries.current(process) else {
            return;
        };
        let (kind, played) = (delivery.kind, delivery.played);
        let blocks_anew = now.block_id != before.block_id && !now.blocked_by_handoff;
        let source = now.blocked_by_message_id.as_ref();
        if blocks_anew && source.is_some_and(|id| self.records.contains_key(id)) {
            self.windows.count(Window::BlockedThoughDone);
        }
        if let Some(is) = is
            && Some(is) != was
            && kind != MessageType::ResubmissionRequest
            && !self.fates[is.index()].kind.has_handler()
        {
            // SUB-21.
            self.violate(|| format!("{is} has no handler and blocks its session"));
        }
        let Some(was) = was else { return };
        match is {
            Some(is) if is == was => {}
            Some(is) => self.violate(|| {
                format!("{was} blocked the session, and a {kind} had {is} block it instead")
            }),
            None => match kind {
                MessageType::SkipRequest => self.settle(was, Settled::Skipped),
                MessageType::HandoffCompletedRequest => self.settle(was, Settled::HandoffCompleted),
                _ => {
                    if before.blocked_by_handoff && kind != MessageType::ResubmissionRequest {
                        self.violate(|| {
                            format!("a {kind} releases {was}, which waits for an external job")
                        });
                    }
                    let discarded = played == Some((was, Outcome::Discards));
                    if self.fates[was.index()].executions.is_empty() && !discarded {
                        self.violate(|| format!("a {kind} releases {was}, which is not settled"));
                    }
                }
            },
        }
    }

    /// SUB-36: the count never goes up but by parking.
    fn check_count(
        &mut self,
        operation: BrokerOperation,
        before: &SessionState,
        now: &SessionState,
    ) {
        let parks = operation == BrokerOperation::Park;
        let allowed = before.deferred_count + i64::from(parks);
        if now.deferred_count > allowed {
            let (from, to) = (before.deferred_count, now.deferred_count);
            self.violate(|| {
                format!("the deferred count goes from {from} to {to} by {operation:?}")
            });
        }
    }

    /// SUB-35: what the state counts is parked.
    fn check_copies(&mut self, now: &SessionState, copies: &[i64]) {
        let counted = now.lowest_unsettled()..now.next_deferral_sequence;
        if let Some(missing) = { counted }.find(|sequence| !copies.contains(sequence)) {
            self.violate(|| format!("the state counts a copy {missing} that is not parked"));
        }
    }

    /// SUB-17: a reference of the older deferral is never doubled.
    fn check_references(&mut self, now: &SessionState) {
        let references = now
            .deferred_sequence_numbers
            .iter()
            .chain(&now.in_flight_sequence_number);
        let mut sorted: Vec<_> = references.collect();
        sorted.sort_unstable();
        if sorted.windows(2).any(|pair| pair[0] == pair[1]) {
            self.violate(|| format!("a deferred reference is doubled: {sorted:?}"));
        }
    }
}

fn blocker(state: &SessionState) -> Option<Event> {
    Event::of_id(state.blocked_by_event_id.as_ref())
}
