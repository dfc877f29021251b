use nimbus_inbox_testing::ProcessId;
use nimbus_messaging::{MessageType, SessionState};
use nimbus_subscriber::HandlerContext;

use super::fate::{Execution, Settled};
use super::{Known, Oracle, Window};
use crate::event::Event;
use crate::outcome::Outcome;
use crate::scenario::InboxKind;

impl Oracle {
    /// The inbox was asked on behalf of a message.
    pub(crate) fn checked(&self, process: ProcessId) {
        let mut known = self.known();
        let now = known.tick();
        if let Some(delivery) = known.deliveries.current(process) {
            delivery.checked = Some(now);
            if delivery.heartbeat {
                // SUB-09.
                known.violate(|| "a heartbeat is looked for in the inbox".to_owned());
            }
        }
    }

    /// A message id was recorded.
    pub(crate) fn recorded(&self, process: ProcessId, id: &str) {
        let mut known = self.known();
        let now = known.tick();
        known.records.entry(id.to_owned()).or_insert(now);
        let Some(delivery) = known.deliveries.current(process) else {
            return;
        };
        let (number, stale) = (delivery.number, delivery.stale);
        let Some((event, Outcome::Succeeds)) = delivery.played else {
            // INB-06, INB-12, INB-13.
            known.violate(|| format!("{id} is recorded though no handler of it has succeeded"));
            return;
        };
        let executions = &mut known.fates[event.index()].executions;
        let own = executions.iter_mut().rfind(|one| one.delivery == number);
        if let Some(own) = own {
            own.recorded = true;
        }
        let blocks = |state: &SessionState| {
            state.blocked_by_message_id.as_deref() == Some(id) && !state.blocked_by_handoff
        };
        if stale && known.states.values().any(blocks) {
            known.windows.count(Window::BlockedThoughDone);
        }
    }

    /// A transaction has committed, and this message id is on record now.
    pub(crate) fn committed(&self, process: ProcessId, id: &str) {
        if !self.known().records.contains_key(id) {
            self.recorded(process, id);
        }
    }

    /// A handler is called.
    pub(crate) fn begins(&self, process: ProcessId, event: Event, context: &HandlerContext) {
        let mut known = self.known();
        let now = known.tick();
        let own = context.headers().message_id.as_deref();
        let source = context.message_id();
        let recorded_at =
            |known: &Known, id: Option<&str>| id.and_then(|id| known.records.get(id)).copied();
        let own_recorded = recorded_at(&known, own);
        let source_recorded = recorded_at(&known, source);
        let blocks = known.blocks(event);
        let Some(delivery) = known.deliveries.current(process) else {
            known.violate(|| format!("{process} handles {event} without a message"));
            return;
        };
        let asked = delivery.checked.unwrap_or(now);
        delivery.played = None;
        delivery.source = source.map(ToOwned::to_owned);
        delivery.began_blocking = blocks;
        let kind = delivery.kind;
        if kind == MessageType::ResubmissionRequest && !blocks {
            known.fates[event.index()].out_of_turn = true;
        }
        let by_source = !matches!(
            kind,
            MessageType::RetryRequest | MessageType::ResubmissionRequest
        );
        let known_then = |recorded: Option<u64>| recorded.is_some_and(|at| at < asked);
        if known_then(own_recorded) || (by_source && known_then(source_recorded)) {
            known.violate(|| {
                format!("the handler of {event} is called for a {kind} whose work was recorded")
            });
        }
    }

    /// A handler ends.
    pub(crate) fn plays(&self, process: ProcessId, event: Event, outcome: Outcome) {
        let mut known = self.known();
        known.tick();
        let Some(delivery) = known.deliveries.current(process) else {
            return;
        };
        delivery.played = Some((event, outcome));
        let (kind, blocking) = (delivery.kind, delivery.began_blocking);
        let execution = Execution {
            process,
            delivery: delivery.number,
            source: delivery.source.clone(),
            recorded: false,
        };
        match outcome {
            Outcome::Succeeds => known.executed(event, kind, blocking, execution),
            Outcome::Discards => known.settle(event, Settled::Discarded),
            Outcome::DeadLetters => {
                known.fates[event.index()].given_up = true;
                // Of a retry or a resubmission the block stays (SUB-21).
                if !blocking {
                    known.settle(event, Settled::DeadLettered);
                }
            }
            _ => {}
        }
    }

    /// A message was completed: by the last receiver, since no other holds the lock.
    pub(crate) fn completed(&self, process: ProcessId, id: Option<&str>) {
        let mut known = self.known();
        let Some(delivery) = known.deliveries.last_of(process, id) else {
            return;
        };
        let number = delivery.number;
        let Some((event, Outcome::Succeeds)) = delivery.played else {
            return;
        };
        let fate = &known.fates[event.index()];
        let execution = fate.executions.iter().rfind(|one| one.delivery == number);
        let unrecorded = execution.is_some_and(|execution| !execution.recorded);
        if unrecorded && known.deduplicates() {
            known.violate(|| format!("the message of {event} is completed before its record"));
        }
    }
}

impl Known {
    fn executed(&mut self, event: Event, kind: MessageType, blocking: bool, execution: Execution) {
        let resubmitted = kind == MessageType::ResubmissionRequest;
        let fate = &self.fates[event.index()];
        let repeated = !fate.executions.is_empty();
        let otherwise = matches!(
            fate.settled,
            Some(Settled::Skipped | Settled::HandoffCompleted | Settled::Discarded)
        );
        if resubmitted {
            self.windows.count(if blocking {
                Window::Resubmitted
            } else {
                Window::OutOfTurn
            });
        } else if repeated {
            match self.window_of_repeat(event, kind) {
                Some(window) => self.windows.count(window),
                None => self.violate(|| {
                    format!(
                        "{event} is handled once more by a {kind}, in none of the known windows"
                    )
                }),
            }
        } else if otherwise {
            self.windows.count(Window::SettledOtherwise);
        }
        if !repeated && !self.fates[event.index()].out_of_turn {
            self.check_order(event, kind);
        }
        let fate = &mut self.fates[event.index()];
        fate.ways.push(Settled::Handled);
        fate.executions.push(execution);
        fate.settled = Some(Settled::Handled);
    }

    /// Where a repeat falls, if it may.
    fn window_of_repeat(&self, event: Event, kind: MessageType) -> Option<Window> {
        let fate = &self.fates[event.index()];
        if !self.deduplicates() {
            return Some(Window::NotDeduplicated);
        }
        if fate.out_of_turn {
            return Some(Window::OutOfTurn);
        }
        if self.overlapped {
            return Some(Window::Concurrent);
        }
        let crashed = self.deliveries.any_died();
        if fate.executions.iter().all(|one| !one.recorded) {
            return crashed.then_some(Window::EffectNotRecorded);
        }
        // A stand-in is asked for by its own id alone, and its source's is recorded first.
        let apart = self.inbox == InboxKind::Apart && kind == MessageType::RetryRequest;
        (apart && crashed).then_some(Window::RecordsApart)
    }

    /// Per session, the effects of handlers are in the order of publishing.
    fn check_order(&mut self, event: Event, kind: MessageType) {
        let session = self.fates[event.index()].session;
        let earlier = (0_u8..).zip(&self.fates).take(event.index());
        let waits_for = earlier
            .filter(|(_, fate)| fate.session == session && fate.settled.is_none())
            .map(|(number, _)| Event(number))
            .next();
        if let Some(earlier) = waits_for {
            self.violate(|| format!("{event} is handled by a {kind} before {earlier} is settled"));
        }
    }

    pub(super) fn settle(&mut self, event: Event, how: Settled) {
        let fate = &mut self.fates[event.index()];
        fate.ways.push(how);
        fate.settled.get_or_insert(how);
    }

    /// Whether a repeat can be recognised at all.
    pub(super) fn deduplicates(&self) -> bool {
        self.inbox != InboxKind::None && !self.anonymous
    }

    pub(super) fn blocks(&self, event: Event) -> bool {
        let mut states = self.states.values();
        states.any(|state| Event::of_id(state.blocked_by_event_id.as_ref()) == Some(event))
    }

    /// INB-14: what a handler has returned is recorded, unless its process died.
    pub(crate) fn check_recorded(&mut self) {
        if !self.deduplicates() {
            return;
        }
        let missing = (0_u8..).zip(&self.fates).find_map(|(number, fate)| {
            let living = |one: &&Execution| !self.deliveries.has_died(one.process);
            let source = |one: &Execution| {
                one.source
                    .as_ref()
                    .is_none_or(|source| !self.records.contains_key(source))
            };
            let executions = fate.executions.iter().filter(living);
            executions
                .filter(|one| !one.recorded || source(one) && !fate.out_of_turn)
                .map(|one| (Event(number), one.process))
                .next()
        });
        if let Some((event, process)) = missing {
            self.violate(|| format!("{process} handled {event}, lives, and has not recorded it"));
        }
    }
}
