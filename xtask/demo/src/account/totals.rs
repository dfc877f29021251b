use std::collections::{BTreeMap, BTreeSet};

use nimbus_messaging::MessageType;
use serde::Serialize;

use super::{Again, Evidence, Fate, Finding, Outcome, order};

/// The closing table.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Totals {
    /// Messages that the publisher sent; the sum of handled, duplicates, dead-lettered, unsupported
    /// and lost.
    pub(crate) published: usize,
    /// Of those, events that were sent a second time under the same id.
    pub(crate) published_again: usize,
    /// Published messages that a consumer got at least once.
    pub(crate) delivered: usize,
    /// Deliveries of all kinds.
    pub(crate) deliveries: usize,
    /// Deliveries that were repeated.
    pub(crate) redeliveries: usize,
    /// Deliveries of scheduled retries.
    pub(crate) retry_deliveries: usize,
    /// Deliveries of requests to handle parked messages.
    pub(crate) drain_deliveries: usize,
    /// Messages whose handler did its work.
    pub(crate) handled: usize,
    /// Messages that were skipped because the work of their id was done.
    pub(crate) duplicates: usize,
    /// Deliveries of handled messages that were skipped, such as those after a kill.
    pub(crate) redeliveries_skipped: usize,
    /// Events that failed at first and were tried again.
    pub(crate) retried: usize,
    /// Attempts that failed.
    pub(crate) failed_attempts: usize,
    /// Messages that waited behind a failed one of their session, and were handled from there.
    pub(crate) parked: usize,
    /// Messages whose handler did its work more than once.
    pub(crate) executed_again: usize,
    pub(crate) dead_lettered: usize,
    pub(crate) unsupported: usize,
    pub(crate) lost: usize,
    /// Sessions whose order was verified.
    pub(crate) sessions: usize,
    /// Messages that were handled too late in their session.
    pub(crate) out_of_order: usize,
}

impl Totals {
    pub(super) fn of(
        evidence: &Evidence,
        fates: &BTreeMap<usize, Fate>,
        executed_again: &[Again],
        findings: &[Finding],
    ) -> Self {
        let fate = |wanted: fn(&Fate) -> bool| fates.values().filter(|fate| wanted(fate)).count();
        let duplicates = fate(|fate| *fate == Fate::Duplicate);
        let skipped = outcomes(evidence, &Outcome::Duplicate);
        Self {
            published: evidence.sent.len(),
            published_again: evidence.sent.iter().filter(|sent| sent.repeated).count(),
            delivered: delivered(evidence).len(),
            deliveries: evidence.deliveries.len(),
            redeliveries: evidence
                .deliveries
                .iter()
                .filter(|(_, delivered)| delivered.delivery_count > 1)
                .count(),
            retry_deliveries: deliveries(evidence, MessageType::RetryRequest),
            drain_deliveries: deliveries(evidence, MessageType::ProcessDeferredRequest),
            handled: fate(|fate| *fate == Fate::Handled),
            duplicates,
            redeliveries_skipped: skipped
                .filter(|number| fates.get(number) == Some(&Fate::Handled))
                .count(),
            retried: distinct(ids(evidence, outcomes(evidence, &Outcome::Failed))),
            failed_attempts: outcomes(evidence, &Outcome::Failed).count(),
            parked: distinct(outcomes(evidence, &Outcome::Deferred)),
            executed_again: executed_again.len(),
            dead_lettered: fate(|fate| matches!(fate, Fate::DeadLettered(_))),
            unsupported: fate(|fate| *fate == Fate::Unsupported),
            lost: fate(|fate| *fate == Fate::Lost),
            sessions: order::sessions(evidence),
            out_of_order: findings
                .iter()
                .filter(|finding| matches!(finding, Finding::Reordered { .. }))
                .count(),
        }
    }
}

/// The publications with this outcome, once for each time.
fn outcomes<'a>(
    evidence: &'a Evidence,
    wanted: &'a Outcome,
) -> impl Iterator<Item = usize> + use<'a> {
    evidence
        .outcomes
        .all()
        .filter(move |(_, outcome)| *outcome == wanted)
        .map(|(publication, _)| publication)
}

fn distinct<T: Ord>(things: impl Iterator<Item = T>) -> usize {
    things.collect::<BTreeSet<_>>().len()
}

fn ids(
    evidence: &Evidence,
    publications: impl Iterator<Item = usize>,
) -> impl Iterator<Item = &str> {
    publications
        .filter_map(|number| evidence.sent.get(number))
        .map(|sent| sent.message_id.as_str())
}

fn delivered(evidence: &Evidence) -> BTreeSet<usize> {
    evidence
        .deliveries
        .iter()
        .filter_map(|(_, delivered)| delivered.publication)
        .collect()
}

fn deliveries(evidence: &Evidence, message_type: MessageType) -> usize {
    evidence
        .deliveries
        .iter()
        .filter(|(_, delivered)| delivered.message_type == message_type.as_str())
        .count()
}
