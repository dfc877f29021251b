use std::fmt;

/// What an operator asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Command {
    Resubmit,
    Skip,
    CompleteHandoff,
    FailHandoff,
    Drain,
}

impl Command {
    pub(crate) const ALL: [Self; 5] = [
        Self::Resubmit,
        Self::Skip,
        Self::CompleteHandoff,
        Self::FailHandoff,
        Self::Drain,
    ];
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Resubmit => "resubmits",
            Self::Skip => "skips",
            Self::CompleteHandoff => "completes the handoff of",
            Self::FailHandoff => "fails the handoff of",
            Self::Drain => "drains the session of",
        })
    }
}
