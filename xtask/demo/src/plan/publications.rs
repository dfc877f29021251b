use nimbus_inbox_core::MessageId;

use crate::events::Event;

/// How many events of a hundred are published twice.
const COPIES_PER_HUNDRED: usize = 8;

/// The furthest that a copy comes behind its original, in publications.
const FURTHEST: usize = 80;

/// One message as the publisher sends it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Publication {
    /// Place in the order of sending, from 0.
    pub(crate) number: usize,
    /// Index of the event.
    pub(crate) event: usize,
    pub(crate) origin: Origin,
}

/// Why a message is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The file has the event.
    File,
    /// The publisher sends it once more under the same id, as one does that missed a confirmation.
    Repeated,
}

impl Publication {
    /// Names this one message, where an event may be published twice: it is the correlation id,
    /// which every retry, parked copy and outcome keeps.
    pub(crate) fn name(&self) -> String {
        format!("publication-{}", self.number)
    }

    /// The publication of that name.
    pub(crate) fn number_of(name: &str) -> Option<usize> {
        name.strip_prefix("publication-")?.parse().ok()
    }
}

/// The events in file order, some of them repeated later.
pub(super) fn with_copies(events: &[Event], random: &mut fastrand::Rng) -> Vec<Publication> {
    let mut repeatable: Vec<usize> = (0..events.len())
        // Without a usable id it would run twice, which proves nothing.
        .filter(|index| MessageId::new(&events[*index].message_id).is_ok())
        .collect();
    let copies = (repeatable.len() * COPIES_PER_HUNDRED).div_ceil(100);
    random.shuffle(&mut repeatable);
    // Sorted by place; an original comes before the copies of the same place.
    let mut placed: Vec<(usize, Origin, usize)> = (0..events.len())
        .map(|event| (event, Origin::File, event))
        .collect();
    placed.extend(repeatable.into_iter().take(copies).map(|event| {
        let place = event + random.usize(0..=FURTHEST);
        (place, Origin::Repeated, event)
    }));
    placed.sort_by_key(|(place, origin, _)| (*place, *origin == Origin::Repeated));
    placed
        .into_iter()
        .enumerate()
        .map(|(number, (_, origin, event))| Publication {
            number,
            event,
            origin,
        })
        .collect()
}
