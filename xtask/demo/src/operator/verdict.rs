use std::collections::BTreeSet;

use serde::Serialize;
use serde_json::Value;

use super::order::Order;
use super::scene::Scene;
use crate::ledger::Execution;

/// What the second act came to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Verdict {
    /// The event that was resubmitted.
    pub(crate) resubmitted: String,
    /// The event that was handed off, and whose job was reported as done.
    pub(crate) handed_off: String,
    /// Messages that waited behind the two and were handled from there.
    pub(crate) replayed: usize,
    /// Events whose work nobody did.
    pub(crate) lost: usize,
    pub(crate) in_order: bool,
    /// Commands that were given to the tool.
    pub(crate) commands: usize,
    /// Everything that should not have happened.
    pub(crate) findings: Vec<String>,
}

/// What the tool says of an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Seen {
    pub(super) event_id: String,
    pub(super) state: String,
}

impl Verdict {
    /// Judges by the ledger what was done, and by the tool what was told.
    pub(super) fn of(scene: &Scene, executions: &[Execution], seen: &[Seen]) -> Self {
        let mut verdict = Self {
            resubmitted: scene.blocked.troubled().to_owned(),
            handed_off: scene.handed_off.troubled().to_owned(),
            in_order: true,
            ..Self::default()
        };
        // By publication: a resubmission has a message id of its own.
        let done: Vec<&str> = executions
            .iter()
            .filter_map(|execution| scene.event_of(execution))
            .collect();
        verdict.judge(&scene.blocked, &scene.blocked.events, &done);
        // The job does the work of one.
        let mut by_billing = scene.handed_off.events.clone();
        by_billing.remove(scene.handed_off.trouble);
        verdict.judge(&scene.handed_off, &by_billing, &done);
        verdict.compare(scene, seen);
        verdict
    }

    /// Nothing was lost, reordered or left unexplained.
    pub(crate) fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Compares what the tool said of a session before anybody acted.
    pub(super) fn expect_block(&mut self, order: &Order, session: &Value) {
        let waiting = u64::try_from(order.waiting()).ok();
        let blocked = session["blocked_by_event_id"] == order.troubled();
        if !blocked || session["parked"].as_u64() != waiting {
            self.find(format!(
                "not blocked: the tool does not show {} behind {}, but {session}",
                order.waiting(),
                order.troubled()
            ));
        }
    }

    fn find(&mut self, finding: String) {
        self.findings.push(finding);
    }

    fn judge(&mut self, order: &Order, expected: &[String], done: &[&str]) {
        let of_order = done.iter().copied();
        let of_order = of_order.filter(|id| order.events.iter().any(|event| event == id));
        let done: Vec<&str> = of_order.collect();
        let known: BTreeSet<&str> = done.iter().copied().collect();
        for missing in expected.iter().filter(|id| !known.contains(id.as_str())) {
            self.lost += 1;
            self.find(format!("lost: nobody did the work of {missing}"));
        }
        let behind = order.events.iter().skip(order.trouble + 1);
        self.replayed += behind.filter(|id| known.contains(id.as_str())).count();
        let present: Vec<&str> = expected
            .iter()
            .map(String::as_str)
            .filter(|id| known.contains(id))
            .collect();
        if done != present {
            self.in_order = false;
            self.find(format!(
                "out of order or repeated: {} was handled as {}",
                order.session,
                done.join(", ")
            ));
        }
    }

    fn compare(&mut self, scene: &Scene, seen: &[Seen]) {
        for id in scene.orders().into_iter().flat_map(|order| &order.events) {
            let state = seen.iter().find(|seen| seen.event_id == *id);
            let state = state.map_or("unknown", |seen| &seen.state);
            if state != "completed" {
                self.find(format!(
                    "not completed: the resolver takes {id} for {state}"
                ));
            }
        }
    }
}
