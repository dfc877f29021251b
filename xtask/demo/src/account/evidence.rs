use std::collections::{BTreeMap, BTreeSet};

use nimbus_inbox_core::MessageId;

use crate::ledger::Execution;
use crate::signal::Delivered;
use crate::supervise::Aftermath;

/// Everything that is known after the run.
#[derive(Debug, Default)]
pub(crate) struct Evidence {
    /// What the publisher sent, in its order.
    pub(crate) sent: Vec<Sent>,
    /// What handlers did, in the order of their commits.
    pub(crate) executions: Vec<Execution>,
    /// Message ids that the inbox has recorded.
    pub(crate) recorded: BTreeSet<String>,
    /// What the resolver was told, by publication.
    pub(crate) outcomes: Outcomes,
    /// The queue's dead letters: publication and reason.
    pub(crate) dead_letters: BTreeMap<usize, String>,
    /// Messages to the resolver that belong to no publication.
    pub(crate) unattributed: usize,
    /// Deliveries, and the consumer that each went to.
    pub(crate) deliveries: Vec<(u32, Delivered)>,
    pub(crate) kills: Vec<Aftermath>,
}

/// One message as it was sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Sent {
    /// Place in the order of sending.
    pub(crate) number: usize,
    /// Line of the events file.
    pub(crate) line: usize,
    pub(crate) message_id: String,
    pub(crate) session: Option<String>,
    pub(crate) event_type: String,
    /// The publisher sent the event before.
    pub(crate) repeated: bool,
}

impl Sent {
    /// Whether the inbox can recognise it.
    pub(crate) fn is_recognisable(&self) -> bool {
        MessageId::new(&self.message_id).is_ok()
    }
}

/// Outcomes by publication, each in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Outcomes(BTreeMap<usize, Vec<Outcome>>);

/// One message to the resolver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Outcome {
    Resolved,
    Duplicate,
    Failed,
    Deferred,
    Unsupported,
    DeadLettered(String),
    /// Nothing in the demo leads to it.
    Unexpected(String),
}

impl Outcomes {
    pub(crate) fn add(&mut self, publication: usize, outcome: Outcome) {
        self.0.entry(publication).or_default().push(outcome);
    }

    pub(crate) fn of(&self, publication: usize) -> &[Outcome] {
        self.0.get(&publication).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn has(&self, publication: usize, outcome: &Outcome) -> bool {
        self.of(publication).contains(outcome)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (usize, &Outcome)> {
        self.0.iter().flat_map(|(publication, outcomes)| {
            outcomes.iter().map(|outcome| (*publication, outcome))
        })
    }
}
