use std::fmt;

use crate::limits::Disturbance;

/// How a handler ends; every other effect just succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Succeeds,
    Fails,
    HandsOff,
    Discards,
    DeadLetters,
    MeetsAnOutage,
}

impl Outcome {
    /// The outcomes of a handler that disturb.
    pub(crate) const OTHERS: [(Self, Disturbance); 5] = [
        (Self::Fails, Disturbance::Failure),
        (Self::HandsOff, Disturbance::Handoff),
        (Self::Discards, Disturbance::Discard),
        (Self::DeadLetters, Disturbance::DeadLetter),
        (Self::MeetsAnOutage, Disturbance::Outage),
    ];
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Succeeds => "succeeds",
            Self::Fails => "fails",
            Self::HandsOff => "hands off",
            Self::Discards => "discards",
            Self::DeadLetters => "dead-letters",
            Self::MeetsAnOutage => "meets an outage",
        })
    }
}
