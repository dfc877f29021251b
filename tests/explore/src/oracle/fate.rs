use nimbus_inbox_testing::ProcessId;
use nimbus_resolver::Report;

use crate::event::EventKind;

/// What became of an event.
#[derive(Debug, Clone)]
pub(crate) struct Fate {
    /// The session it belongs to.
    pub(crate) session: u8,
    /// What it comes as.
    pub(crate) kind: EventKind,
    /// The successes of its handler.
    pub(super) executions: Vec<Execution>,
    /// Nothing that follows has to wait for it any more.
    pub(crate) settled: Option<Settled>,
    /// Every way in which it was settled, first and later ones.
    pub(super) ways: Vec<Settled>,
    /// What the resolver was told of it.
    pub(super) reports: Vec<Report>,
    /// A handler had it dead-lettered: no retry follows.
    pub(crate) given_up: bool,
    /// The resolver knows that it is done.
    pub(super) told_done: bool,
    /// An operator had it handled though it did not block its session, or gave it up.
    pub(super) out_of_turn: bool,
}

/// A success of a handler.
#[derive(Debug, Clone)]
pub(super) struct Execution {
    pub(super) process: ProcessId,
    /// The number of the delivery that it belongs to.
    pub(super) delivery: usize,
    /// The message id that has to be recorded: the source's.
    pub(super) source: Option<String>,
    /// Something of it was recorded.
    pub(super) recorded: bool,
}

/// Why nothing has to wait for an event any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Settled {
    Handled,
    Skipped,
    HandoffCompleted,
    Discarded,
    DeadLettered,
    Unsupported,
    /// A heartbeat was answered.
    Answered,
}

impl Fate {
    pub(super) fn new(session: u8, kind: EventKind) -> Self {
        Self {
            session,
            kind,
            executions: Vec::new(),
            settled: None,
            ways: Vec::new(),
            reports: Vec::new(),
            given_up: false,
            told_done: false,
            out_of_turn: false,
        }
    }
}
