//! Watches every effect and says whether what happens may happen.

mod delivery;
mod execution;
mod fate;
mod outcomes;
mod resolved;
mod state;
mod windows;

use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nimbus_inbox_testing::ProcessId;
use nimbus_messaging::{SessionId, SessionState};

use delivery::Deliveries;
use fate::Fate;
pub use windows::{Window, Windows};

use crate::event::{Event, EventKind};
use crate::fingerprint::without_chance;
use crate::scenario::{InboxKind, Scenario};

/// A handle on what is known of one schedule.
#[derive(Debug, Clone)]
pub(crate) struct Oracle(Arc<Mutex<Known>>);

/// What is known of one schedule.
#[derive(Debug)]
pub(crate) struct Known {
    pub(crate) fates: Vec<Fate>,
    /// When each session was last accessed for the first time by the holder of its lane.
    taken: BTreeMap<SessionId, Taken>,
    pub(crate) windows: Windows,
    /// The first rule that was broken.
    pub(crate) violation: Option<String>,
    deliveries: Deliveries,
    /// The message ids that are recorded, and when they were.
    records: BTreeMap<String, u64>,
    states: BTreeMap<SessionId, SessionState>,
    /// A lock ran out, so that two receivers may have worked on one message at a time.
    pub(crate) overlapped: bool,
    inbox: InboxKind,
    anonymous: bool,
    /// Counts what happens.
    now: u64,
}

/// The first access to a session's state by the holder of its lane.
#[derive(Debug, Clone, Copy)]
struct Taken {
    at: u64,
    delivery: usize,
}

impl Oracle {
    pub(crate) fn new(scenario: &Scenario) -> Self {
        let sessions = (0_u8..).zip(&scenario.sessions);
        let sessions = sessions.flat_map(|(session, events)| (0..*events).map(move |_| session));
        let kinds = scenario.kinds.iter().copied();
        let kinds = kinds.chain(std::iter::repeat(EventKind::default()));
        let fates = sessions
            .zip(kinds)
            .map(|(session, kind)| Fate::new(session, kind));
        Self(Arc::new(Mutex::new(Known {
            fates: fates.collect(),
            taken: BTreeMap::new(),
            windows: Windows::default(),
            violation: None,
            deliveries: Deliveries::default(),
            records: BTreeMap::new(),
            states: BTreeMap::new(),
            overlapped: false,
            inbox: scenario.inbox,
            anonymous: scenario.anonymous,
            now: 0,
        })))
    }

    pub(crate) fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A process dies.
    pub(crate) fn died(&self, process: ProcessId) {
        self.known().deliveries.died(process);
    }

    /// The lock on a session runs out while its holder works on.
    pub(crate) fn expired(&self, process: ProcessId) {
        let mut known = self.known();
        let now = known.tick();
        known.overlapped = true;
        known.deliveries.expired(process, now);
    }

    /// Adds an event that is published in the end, to see whether its session still works.
    pub(crate) fn add_event(&self, session: u8) -> Event {
        let mut known = self.known();
        let event = Event(u8::try_from(known.fates.len()).unwrap_or(u8::MAX));
        known.fates.push(Fate::new(session, EventKind::Handled));
        event
    }
}

impl Known {
    /// What is recorded, and what became of each event.
    pub(crate) fn hash_into(&self, hasher: &mut impl Hasher) {
        for id in self.records.keys() {
            without_chance(id).hash(hasher);
        }
        for fate in &self.fates {
            (fate.settled, fate.executions.len(), fate.out_of_turn).hash(hasher);
        }
    }

    fn tick(&mut self) -> u64 {
        self.now += 1;
        self.now
    }

    /// Notes the first rule that was broken; what follows from it is of no interest.
    pub(crate) fn violate(&mut self, rule: impl FnOnce() -> String) {
        if self.violation.is_none() {
            self.violation = Some(rule());
        }
    }
}
