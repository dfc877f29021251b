use std::collections::HashMap;

use super::{Evidence, Finding};

/// Executions that came after those of a later message of their session.
///
/// A message that was sent twice stands where it was sent first. The same message again, as after a
/// kill, is in order as long as nothing later came between.
pub(super) fn violations(evidence: &Evidence) -> Vec<Finding> {
    let places = places(evidence);
    let mut latest: HashMap<&str, (usize, &str)> = HashMap::new();
    let mut violations = Vec::new();
    for execution in &evidence.executions {
        let (Some(session), Some(place)) = (
            execution.session.as_deref(),
            places.get(&execution.publication),
        ) else {
            continue;
        };
        let id = execution.message_id.as_deref().unwrap_or_default();
        let (furthest, later) = latest.entry(session).or_insert((*place, id));
        if place < furthest {
            violations.push(Finding::Reordered {
                session: session.to_owned(),
                message_id: id.to_owned(),
                after: (*later).to_owned(),
            });
        } else {
            (*furthest, *later) = (*place, id);
        }
    }
    violations
}

/// How many sessions a handler worked for.
pub(super) fn sessions(evidence: &Evidence) -> usize {
    let mut sessions: Vec<_> = evidence
        .executions
        .iter()
        .filter_map(|execution| execution.session.as_deref())
        .collect();
    sessions.sort_unstable();
    sessions.dedup();
    sessions.len()
}

/// For each publication, where its event stands in the order of sending.
fn places(evidence: &Evidence) -> HashMap<usize, usize> {
    let mut first_of_id: HashMap<&str, usize> = HashMap::new();
    evidence
        .sent
        .iter()
        .map(|sent| {
            let place = if sent.is_recognisable() {
                *first_of_id.entry(&sent.message_id).or_insert(sent.number)
            } else {
                sent.number
            };
            (sent.number, place)
        })
        .collect()
}
