use super::executions::Executed;
use super::{Evidence, Outcome, Sent};

/// How one published message ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Fate {
    /// A handler did its work.
    Handled,
    /// Its work was done under another delivery of the same id.
    Duplicate,
    /// Set aside for an operator.
    DeadLettered(String),
    /// No handler takes its event type.
    Unsupported,
    /// Nothing tells of it.
    Lost,
}

impl Fate {
    /// No handler will see it again.
    pub(super) fn is_set_aside(&self) -> bool {
        matches!(self, Self::DeadLettered(_) | Self::Unsupported)
    }
}

pub(super) fn of(sent: &Sent, evidence: &Evidence, executed: &Executed<'_>) -> Fate {
    if executed.publication(sent.number) {
        return Fate::Handled;
    }
    let outcomes = evidence.outcomes.of(sent.number);
    let reason = outcomes
        .iter()
        .find_map(|outcome| match outcome {
            Outcome::DeadLettered(reason) => Some(reason),
            _ => None,
        })
        .or_else(|| evidence.dead_letters.get(&sent.number));
    if let Some(reason) = reason {
        return Fate::DeadLettered(reason.clone());
    }
    if outcomes.contains(&Outcome::Unsupported) {
        return Fate::Unsupported;
    }
    // What counts is that the work was really done: the word of the subscriber alone would hide a
    // message that was skipped and never handled.
    if executed.message_id(&sent.message_id) {
        return Fate::Duplicate;
    }
    Fate::Lost
}
