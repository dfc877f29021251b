use std::fmt;

use crate::event::EventKind;
use crate::limits::Limits;

/// A small world to explore, and what may happen in it.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// A name for reports and replays.
    pub name: String,
    /// How many events are published in each session.
    pub sessions: Vec<u8>,
    /// How many of them wait in the queue from the start; the others are published in between.
    pub waiting: u8,
    /// What the first events come as; the others have a handler.
    pub kinds: Vec<EventKind>,
    /// How many processes receive.
    pub receivers: u8,
    /// What the inbox can do.
    pub inbox: InboxKind,
    /// Whether a parked copy and the session's state change in one step.
    pub atomic_sessions: bool,
    /// How often a failed event is retried.
    pub retries: u32,
    /// How many of the first session's events an older version deferred at the broker.
    pub deferred: u8,
    /// Whether the publisher sets no message ids.
    pub anonymous: bool,
    /// How the operator lifts what still blocks in the end.
    pub operator: Operator,
    /// How often each disturbance may happen in one schedule.
    pub limits: Limits,
}

/// What the inbox of a scenario can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InboxKind {
    /// The subscriber has none.
    None,
    /// Source and own id are recorded in one step.
    AtOnce,
    /// They are recorded one after the other, and a crash may come between.
    Apart,
    /// They are recorded in the handler's own transaction, together with its effect.
    Transaction,
}

/// How an operator lifts the block of a failed event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// Has it handled once more.
    Resubmits,
    /// Gives it up.
    Skips,
}

impl Scenario {
    /// One session of `events` messages that all wait, one receiver, an inbox, and no disturbance.
    #[must_use]
    pub fn new(name: impl Into<String>, events: u8) -> Self {
        Self {
            name: name.into(),
            sessions: vec![events],
            waiting: events,
            kinds: Vec::new(),
            receivers: 1,
            inbox: InboxKind::AtOnce,
            atomic_sessions: true,
            retries: 0,
            deferred: 0,
            anonymous: false,
            operator: Operator::Resubmits,
            limits: Limits::default(),
        }
    }

    /// All events of the scenario.
    #[must_use]
    pub fn events(&self) -> u8 {
        self.sessions.iter().sum()
    }
}

impl fmt::Display for Scenario {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}
