//! What the broker knows, changed in one step at a time under its mutex.

mod dead;
mod line;
mod queue;
mod session;

use std::collections::{BTreeMap, BTreeSet};

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Address, Envelope, TransportError, TransportErrorKind, property};

pub(super) use line::{LineKey, Lock, Taken};
pub(super) use queue::{Queue, QueueRules, Stored};
pub(super) use session::SessionRecord;

use super::{LoggedCall, ProcessId};

/// Everything behind the broker's mutex; ordered maps, so that two runs go the same way.
#[derive(Debug, Default)]
pub(super) struct State {
    queues: BTreeMap<Name, Queue>,
    topics: BTreeMap<Name, Vec<Subscription>>,
    dead: BTreeSet<ProcessId>,
    next_process: u32,
    next_call: u64,
    next_schedule: u64,
    /// Counts the connection cuts, so that a call can tell whether it was hit by one.
    pub(super) cuts: u64,
    pub(super) log: Vec<LoggedCall>,
}

/// An address as maps compare it: without ASCII case (SUB-04).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Name(String);

impl Name {
    fn of(address: &Address) -> Self {
        Self(address.as_str().to_ascii_lowercase())
    }
}

#[derive(Debug)]
struct Subscription {
    endpoint: Name,
    /// `None` takes every event type.
    event_types: Option<BTreeSet<String>>,
}

impl State {
    pub(super) fn declare(&mut self, address: &Address, rules: QueueRules) {
        self.queues
            .entry(Name::of(address))
            .or_insert_with(|| Queue::new(rules));
    }

    pub(super) fn subscribe(
        &mut self,
        topic: &Address,
        endpoint: &Address,
        event_types: Option<BTreeSet<String>>,
    ) {
        self.topics
            .entry(Name::of(topic))
            .or_default()
            .push(Subscription {
                endpoint: Name::of(endpoint),
                event_types,
            });
    }

    /// The queue of `address`, with everything that is over by `now` behind it.
    pub(super) fn queue(
        &mut self,
        address: &Address,
        now: Timestamp,
    ) -> Result<&mut Queue, TransportError> {
        let queue = self.queues.get_mut(&Name::of(address)).ok_or_else(|| {
            TransportError::configuration(format!(
                "no endpoint {address} is declared at the in-memory broker; declare it first"
            ))
        })?;
        queue.catch_up(now);
        Ok(queue)
    }

    /// The queues that the message goes to, at least one.
    pub(super) fn route(
        &mut self,
        address: &Address,
        envelope: &Envelope,
        now: Timestamp,
    ) -> Result<Vec<&mut Queue>, TransportError> {
        let name = Name::of(address);
        let event_type = envelope.properties.text(property::EVENT_TYPE_ID);
        let targets: BTreeSet<Name> = match self.topics.get(&name) {
            None => BTreeSet::from([name]),
            Some(subscriptions) => subscriptions
                .iter()
                .filter(|subscription| subscription.takes(event_type.as_deref()))
                .map(|subscription| subscription.endpoint.clone())
                .collect(),
        };
        let mut queues: Vec<_> = self
            .queues
            .iter_mut()
            .filter(|(name, _)| targets.contains(*name))
            .map(|(_, queue)| queue)
            .collect();
        if queues.is_empty() {
            return Err(TransportError::new(
                TransportErrorKind::Unroutable,
                format!(
                    "nothing receives from {address}: it is neither a declared endpoint nor a \
                     topic with a subscription to the message's event type"
                ),
            ));
        }
        for queue in &mut queues {
            queue.catch_up(now);
        }
        Ok(queues)
    }

    /// Every queue, caught up with `now`.
    pub(super) fn queues(&mut self, now: Timestamp) -> impl Iterator<Item = &mut Queue> {
        self.catch_up(now);
        self.queues.values_mut()
    }

    /// Lets everything take place that is due or over by `now`.
    pub(super) fn catch_up(&mut self, now: Timestamp) {
        for queue in self.queues.values_mut() {
            queue.catch_up(now);
        }
    }

    pub(super) fn next_process(&mut self) -> ProcessId {
        self.next_process += 1;
        ProcessId(self.next_process)
    }

    pub(super) fn next_call(&mut self) -> u64 {
        self.next_call += 1;
        self.next_call
    }

    pub(super) fn next_schedule(&mut self) -> u64 {
        self.next_schedule += 1;
        self.next_schedule
    }

    pub(super) fn kill(&mut self, process: ProcessId) {
        self.dead.insert(process);
    }

    pub(super) fn is_dead(&self, process: ProcessId) -> bool {
        self.dead.contains(&process)
    }
}

impl Subscription {
    fn takes(&self, event_type: Option<&str>) -> bool {
        self.event_types
            .as_ref()
            .is_none_or(|types| event_type.is_some_and(|event_type| types.contains(event_type)))
    }
}
