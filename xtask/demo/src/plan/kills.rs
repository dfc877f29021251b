use std::collections::HashSet;

use nimbus_inbox_core::MessageId;
use serde::{Deserialize, Serialize};

use super::{Leg, Origin, Publication};
use crate::billing;
use crate::events::Event;

/// Fewer publications than this are left for the last consumer to be killed amid them.
const ENOUGH_FOR_A_RANDOM_KILL: usize = 40;

/// When a consumer is killed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kill {
    /// The handler of this message has done its work; the inbox doesn't know yet.
    BeforeRecord(String),
    /// The inbox has recorded this message; the queue still holds it.
    BeforeSettlement(String),
    /// After so many deliveries, whatever is in work then.
    AfterDeliveries(u64),
}

impl Kill {
    /// The message that is held until the kill.
    pub(crate) fn message_id(&self) -> Option<&str> {
        match self {
            Self::BeforeRecord(id) | Self::BeforeSettlement(id) => Some(id),
            Self::AfterDeliveries(_) => None,
        }
    }
}

/// Splits the publications between consumers, each but the last killed at its point.
///
/// The first kill comes before a record, so that a file of one event can be killed at both points:
/// the redelivery runs the handler again and is then held before its settlement.
pub(super) fn legs(
    events: &[Event],
    publications: &[Publication],
    random: &mut fastrand::Rng,
) -> Vec<Leg> {
    let places = places_to_hold(events, publications);
    let all = publications.len();
    if places.is_empty() {
        return vec![Leg {
            publications: 0..all,
            kill: None,
        }];
    }
    let first = chosen(&places, 15, 35, random);
    let second = chosen(&places, 45, 65, random)
        .max(first + 1)
        .min(places.len() - 1);
    let (record, settlement) = (places[first], places[second]);
    let id = |place: usize| events[publications[place].event].message_id.clone();

    let half = record + (settlement - record).div_ceil(2).max(1);
    let rest = (settlement + 1 + (all - settlement) / 3).min(all).max(half);
    let mut legs = vec![
        Leg {
            publications: 0..half,
            kill: Some(Kill::BeforeRecord(id(record))),
        },
        Leg {
            publications: half..rest,
            kill: Some(Kill::BeforeSettlement(id(settlement))),
        },
    ];
    let left = all - rest;
    if left >= ENOUGH_FOR_A_RANDOM_KILL {
        let deliveries = random.usize(left / 4..=left / 2);
        legs.push(Leg {
            publications: rest..all,
            kill: Some(Kill::AfterDeliveries(
                u64::try_from(deliveries).unwrap_or(u64::MAX),
            )),
        });
    }
    let sent = legs.last().map_or(0, |leg| leg.publications.end);
    legs.push(Leg {
        publications: sent..all,
        kill: None,
    });
    legs
}

/// Publications whose delivery surely runs a handler, is recorded, and is then settled: first of
/// their id, and of an event that a handler can read.
fn places_to_hold(events: &[Event], publications: &[Publication]) -> Vec<usize> {
    let mut seen = HashSet::new();
    publications
        .iter()
        .filter(|publication| {
            let event = &events[publication.event];
            seen.insert(&event.message_id)
                && publication.origin == Origin::File
                && MessageId::new(&event.message_id).is_ok()
                && billing::can_book(event)
        })
        .map(|publication| publication.number)
        .collect()
}

/// An index into `places`, between two shares of their number in percent.
fn chosen(places: &[usize], from: usize, to: usize, random: &mut fastrand::Rng) -> usize {
    let share = random.usize(from..=to);
    (places.len() * share / 100).min(places.len() - 1)
}
