//! What the run will do, decided before it starts: the same seed and file give the same plan.

mod disturbances;
mod kills;
mod publications;

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ops::Range;

pub(crate) use kills::Kill;
pub(crate) use publications::{Origin, Publication};

use crate::events::Event;

/// Everything that is decided by chance, and the order in which it happens.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) events: Vec<Event>,
    /// In the order they are sent.
    pub(crate) publications: Vec<Publication>,
    /// How many attempts at an event fail before one succeeds, by message id.
    pub(crate) failures: BTreeMap<String, u32>,
    /// Each sends a part of the publications and starts a consumer.
    pub(crate) legs: Vec<Leg>,
}

/// The life of one consumer process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Leg {
    /// What is published before it starts.
    pub(crate) publications: Range<usize>,
    /// How it ends; without a kill it works until nothing is left.
    pub(crate) kill: Option<Kill>,
}

impl Plan {
    pub(crate) fn new(events: Vec<Event>, seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let publications = publications::with_copies(&events, &mut random);
        let legs = kills::legs(&events, &publications, &mut random);
        let failures = disturbances::choose(&events, &legs, &mut random);
        Self {
            events,
            publications,
            failures,
            legs,
        }
    }

    pub(crate) fn event(&self, publication: &Publication) -> &Event {
        &self.events[publication.event]
    }

    pub(crate) fn kills(&self) -> usize {
        self.legs.iter().filter(|leg| leg.kill.is_some()).count()
    }
}
