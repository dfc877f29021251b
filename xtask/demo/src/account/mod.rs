//! Accounts for every message that was published, from what was left behind: the ledger, the inbox,
//! the queue, its dead letters and everything that the resolver was told.

mod evidence;
mod executions;
mod fate;
mod finding;
mod gather;
mod order;
mod totals;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashMap};

pub(crate) use evidence::{Evidence, Outcome, Sent};
use executions::Executed;
pub(crate) use executions::{Again, Cause};
pub(crate) use fate::Fate;
pub(crate) use finding::Finding;
pub(crate) use gather::gather;
pub(crate) use totals::Totals;

/// What became of everything.
#[derive(Debug)]
pub(crate) struct Account {
    pub(crate) totals: Totals,
    /// Messages that no handler will see again, with the reason; one that was sent twice and ended
    /// the same way each time comes once.
    pub(crate) set_aside: Vec<(Sent, Fate)>,
    /// Messages whose handler did its work more than once.
    pub(crate) executed_again: Vec<Again>,
    /// Everything that should not have happened.
    pub(crate) findings: Vec<Finding>,
}

impl Account {
    pub(crate) fn of(evidence: &Evidence) -> Self {
        let executed = Executed::of(evidence);
        let fates: BTreeMap<usize, Fate> = evidence
            .sent
            .iter()
            .map(|sent| (sent.number, fate::of(sent, evidence, &executed)))
            .collect();
        let executed_again = executions::repeated(evidence);
        let mut findings: Vec<Finding> = finding::of_fates(evidence, &fates);
        findings.extend(executions::unexplained(&executed_again));
        findings.extend(order::violations(evidence));
        findings.extend(finding::of_kills(evidence));
        Self {
            totals: Totals::of(evidence, &fates, &executed_again, &findings),
            set_aside: set_aside(evidence, &fates),
            executed_again,
            findings,
        }
    }

    /// Nothing was lost, reordered or left unexplained.
    pub(crate) fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }
}

fn set_aside(evidence: &Evidence, fates: &BTreeMap<usize, Fate>) -> Vec<(Sent, Fate)> {
    let mut told: HashMap<usize, &Fate> = HashMap::new();
    let mut set_aside = Vec::new();
    for sent in &evidence.sent {
        let fate = fates.get(&sent.number).filter(|fate| fate.is_set_aside());
        if let Some(fate) = fate
            && told.insert(sent.line, fate) != Some(fate)
        {
            set_aside.push((sent.clone(), fate.clone()));
        }
    }
    set_aside
}
