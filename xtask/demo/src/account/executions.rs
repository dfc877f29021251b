use std::collections::{BTreeMap, HashSet};

use nimbus_inbox_core::MessageId;

use super::{Evidence, Finding};
use crate::ledger::Execution;

/// What was executed, for quick look-ups.
pub(super) struct Executed<'a> {
    publications: HashSet<usize>,
    message_ids: HashSet<&'a str>,
}

impl<'a> Executed<'a> {
    pub(super) fn of(evidence: &'a Evidence) -> Self {
        let executions = &evidence.executions;
        Self {
            publications: executions.iter().map(|one| one.publication).collect(),
            message_ids: executions
                .iter()
                .filter_map(|one| one.message_id.as_deref())
                .collect(),
        }
    }

    pub(super) fn publication(&self, number: usize) -> bool {
        self.publications.contains(&number)
    }

    pub(super) fn message_id(&self, id: &str) -> bool {
        self.message_ids.contains(id)
    }
}

/// A message whose handler did its work more than once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Again {
    pub(crate) message_id: String,
    pub(crate) times: usize,
    /// Why each execution after the first happened.
    pub(crate) causes: Vec<Cause>,
}

/// Why a handler did its work once more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    /// This consumer was killed after the handler's work and before the record of it.
    KilledBeforeRecord { run: u32 },
    /// The lock of its session expired while it was handled, so that the queue delivered it again.
    LockExpired { run: u32 },
    /// The inbox can't recognise its id.
    Unrecognisable,
    /// None of the known windows.
    Unexplained,
}

/// What tells two executions of the same work apart from two works.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Work<'a> {
    Message(&'a str),
    Publication(usize),
}

/// Messages that were executed more than once, and why.
pub(super) fn repeated(evidence: &Evidence) -> Vec<Again> {
    let mut works: BTreeMap<Work<'_>, Vec<&Execution>> = BTreeMap::new();
    for execution in &evidence.executions {
        let id = execution.message_id.as_deref().unwrap_or_default();
        let work = match MessageId::new(id) {
            Ok(_) => Work::Message(id),
            Err(_) => Work::Publication(execution.publication),
        };
        works.entry(work).or_default().push(execution);
    }
    works
        .into_iter()
        .filter(|(_, executions)| executions.len() > 1)
        .map(|(work, executions)| Again {
            message_id: executions[0].message_id.clone().unwrap_or_default(),
            times: executions.len(),
            causes: executions
                .windows(2)
                .map(|pair| match work {
                    Work::Publication(_) => Cause::Unrecognisable,
                    Work::Message(_) => cause(pair[0], pair[1], evidence),
                })
                .collect(),
        })
        .collect()
}

fn cause(before: &Execution, after: &Execution, evidence: &Evidence) -> Cause {
    let killed_before_record = evidence
        .kills
        .iter()
        .any(|kill| kill.run == before.run && kill.unrecorded.contains_key(&before.publication));
    if killed_before_record && before.run < after.run {
        return Cause::KilledBeforeRecord { run: before.run };
    }
    if before.run == after.run && was_delivered_again(after, evidence) {
        return Cause::LockExpired { run: after.run };
    }
    Cause::Unexplained
}

/// Whether the queue delivered the same message, or a drain of its session, twice to one consumer.
fn was_delivered_again(execution: &Execution, evidence: &Evidence) -> bool {
    let mut types = HashSet::new();
    evidence
        .deliveries
        .iter()
        .filter(|(run, delivered)| {
            let publication = delivered.publication;
            *run == execution.run
                && publication.is_none_or(|number| number == execution.publication)
        })
        .any(|(_, delivered)| {
            // The first of a type that came before may have been to an earlier consumer.
            let first_here = types.insert((&delivered.message_type, delivered.publication));
            delivered.delivery_count > 1 && (!first_here || delivered.publication.is_none())
        })
}

/// Executions that nothing explains.
pub(super) fn unexplained(again: &[Again]) -> impl Iterator<Item = Finding> {
    again
        .iter()
        .filter(|again| again.causes.contains(&Cause::Unexplained))
        .map(|again| Finding::ExecutedAgain {
            message_id: again.message_id.clone(),
            times: again.times,
        })
}
