use std::collections::{BTreeMap, HashMap, HashSet};

use nimbus_inbox_core::MessageId;

use super::Leg;
use crate::billing;
use crate::events::Event;

/// How many events of a hundred fail at first.
const FAILURES_PER_HUNDRED: usize = 5;

/// The most attempts of one event that fail; the retry policy of the consumer allows one more.
pub(crate) const MOST_FAILED_ATTEMPTS: u32 = 2;

/// Chooses the events that fail at first, and how often.
pub(super) fn choose(
    events: &[Event],
    legs: &[Leg],
    random: &mut fastrand::Rng,
) -> BTreeMap<String, u32> {
    let wanted = (events.len() * FAILURES_PER_HUNDRED).div_ceil(100);
    let mut candidates = candidates(events, legs);
    random.shuffle(&mut candidates);
    // Events with others behind them first: those are parked meanwhile.
    let last = last_of_sessions(events);
    candidates.sort_by_key(|index| last.contains(index));
    candidates
        .into_iter()
        .take(wanted)
        .map(|index| {
            let attempts = random.u32(1..=MOST_FAILED_ATTEMPTS);
            (events[index].message_id.clone(), attempts)
        })
        .collect()
}

/// Events that a handler takes and the inbox recognises, and that stand before none that a kill
/// waits for: a message behind a failed one is parked and would not come to its point.
fn candidates(events: &[Event], legs: &[Leg]) -> Vec<usize> {
    let held: HashSet<&str> = legs
        .iter()
        .filter_map(|leg| leg.kill.as_ref()?.message_id())
        .collect();
    let mut last_held: HashMap<&str, usize> = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        if held.contains(event.message_id.as_str())
            && let Some(session) = &event.session
        {
            last_held.insert(session, index);
        }
    }
    (0..events.len())
        .filter(|index| {
            let event = &events[*index];
            let session = event.session.as_deref();
            let behind_the_held = session
                .and_then(|session| last_held.get(session))
                .is_none_or(|held| index > held);
            behind_the_held
                && !held.contains(event.message_id.as_str())
                && MessageId::new(&event.message_id).is_ok()
                && billing::can_book(event)
        })
        .collect()
}

fn last_of_sessions(events: &[Event]) -> HashSet<usize> {
    let mut last = HashMap::new();
    for (index, event) in events.iter().enumerate() {
        last.insert(&event.session, index);
    }
    last.into_values().collect()
}
