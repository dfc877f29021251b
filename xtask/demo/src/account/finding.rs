use std::collections::BTreeMap;
use std::fmt;

use super::{Evidence, Fate, Outcome};
use crate::plan::Kill;

/// Something that should not have happened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Finding {
    /// Nothing tells what became of a message.
    Lost { message_id: String, line: usize },
    /// Handled, but the inbox has no record.
    Unrecorded { message_id: String },
    /// The work is done, but the resolver was never told of this message.
    Untold {
        message_id: String,
        publication: usize,
    },
    /// Handled more than once, and nothing explains why.
    ExecutedAgain { message_id: String, times: usize },
    /// Handled after a message that was sent later in the same session.
    Reordered {
        session: String,
        message_id: String,
        after: String,
    },
    /// An outcome that nothing in the demo leads to.
    Unexpected { message_id: String, outcome: String },
    /// Outcomes of no message that was published.
    Unattributed(usize),
    /// The ledger holds work for a message that was never published.
    Unasked { publication: usize },
    /// A kill did not find its message at its point.
    Missed(Kill),
}

/// What the fates of the messages say.
pub(super) fn of_fates(evidence: &Evidence, fates: &BTreeMap<usize, Fate>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for sent in &evidence.sent {
        let message_id = || sent.message_id.clone();
        match fates.get(&sent.number) {
            None | Some(Fate::Lost) => findings.push(Finding::Lost {
                message_id: message_id(),
                line: sent.line,
            }),
            Some(Fate::Handled) => {
                if sent.is_recognisable() && !evidence.recorded.contains(&sent.message_id) {
                    findings.push(Finding::Unrecorded {
                        message_id: message_id(),
                    });
                }
            }
            Some(Fate::Duplicate | Fate::DeadLettered(_) | Fate::Unsupported) => {}
        }
        // Both words mean that the work is done. A retry is reported as resolved when another
        // delivery of its event was quicker.
        let told = [Outcome::Resolved, Outcome::Duplicate]
            .iter()
            .any(|outcome| evidence.outcomes.has(sent.number, outcome));
        let done = matches!(
            fates.get(&sent.number),
            Some(Fate::Handled | Fate::Duplicate)
        );
        if done && !told {
            findings.push(Finding::Untold {
                message_id: message_id(),
                publication: sent.number,
            });
        }
        for outcome in evidence.outcomes.of(sent.number) {
            if let Outcome::Unexpected(outcome) = outcome {
                findings.push(Finding::Unexpected {
                    message_id: message_id(),
                    outcome: outcome.clone(),
                });
            }
        }
    }
    if evidence.unattributed > 0 {
        findings.push(Finding::Unattributed(evidence.unattributed));
    }
    findings.extend(
        evidence
            .executions
            .iter()
            .filter(|execution| !fates.contains_key(&execution.publication))
            .map(|execution| Finding::Unasked {
                publication: execution.publication,
            }),
    );
    findings
}

/// Kills that proved nothing.
pub(super) fn of_kills(evidence: &Evidence) -> impl Iterator<Item = Finding> {
    evidence
        .kills
        .iter()
        .filter(|kill| !kill.hit())
        .map(|kill| Finding::Missed(kill.kill.clone()))
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Lost { message_id, line } => write!(
                f,
                "lost: {message_id:?} (line {line}) was published, and nothing tells what became \
                 of it"
            ),
            Self::Unrecorded { message_id } => write!(
                f,
                "not recorded: {message_id:?} was handled, and the inbox does not know it"
            ),
            Self::Untold {
                message_id,
                publication,
            } => write!(
                f,
                "not reported: the work of {message_id:?} is done, and the resolver was never told \
                 how publication {publication} of it ended"
            ),
            Self::ExecutedAgain { message_id, times } => write!(
                f,
                "not explained: {message_id:?} was handled {times} times, outside every window \
                 that is documented"
            ),
            Self::Reordered {
                session,
                message_id,
                after,
            } => write!(
                f,
                "out of order: {message_id:?} was handled after {after:?}, which comes later in \
                 session {session:?}"
            ),
            Self::Unexpected {
                message_id,
                outcome,
            } => write!(f, "not expected: {message_id:?} ended as {outcome}"),
            Self::Unattributed(count) => write!(
                f,
                "not expected: {count} outcomes belong to no published message"
            ),
            Self::Unasked { publication } => write!(
                f,
                "not expected: the ledger holds work for publication {publication}, which was \
                 never sent"
            ),
            Self::Missed(kill) => write!(f, "missed: the kill {kill:?} did not hit its point"),
        }
    }
}
