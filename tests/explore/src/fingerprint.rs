//! Tells states of the world apart, to count them.

use std::hash::{DefaultHasher, Hash, Hasher};

use nimbus_inbox_testing::MessageStatus;
use nimbus_messaging::{Envelope, property};

use crate::effect::Effect;
use crate::event::ENDPOINT;
use crate::world::{World, session};

/// A number for what is durable, what waits at the gate and what became of each event. Two states
/// that differ only in random ids, in the resolver's queue or in instants have the same.
///
/// What a process remembers shows only by what it does next, so nothing is pruned by this.
pub(crate) fn fingerprint(world: &World<'_>) -> u64 {
    let mut hasher = DefaultHasher::new();
    let known = world.oracle.known();
    known.hash_into(&mut hasher);
    drop(known);

    let mut blocks = Vec::new();
    for (number, _) in (0_u8..).zip(&world.scenario.sessions) {
        let mut state = world.state(number);
        blocks.extend(state.block_id.take());
        state.to_json().hash(&mut hasher);
        for copy in world.broker.parked(ENDPOINT, &session(number)) {
            let reference = copy.reference;
            (reference.sequence, without_chance(&reference.id)).hash(&mut hasher);
        }
    }
    for message in world.broker.messages(ENDPOINT) {
        hash_message(&message.envelope, &blocks, &mut hasher);
        let status = match message.status {
            MessageStatus::Ready => 0_u8,
            MessageStatus::HeldUntil(_) => 1,
            MessageStatus::InFlight => 2,
            _ => 3,
        };
        (message.delivery_count, status).hash(&mut hasher);
    }
    for (_, message) in world.broker.scheduled(ENDPOINT) {
        hash_message(&message, &blocks, &mut hasher);
    }
    world.gate.look(|waiting| {
        for call in waiting {
            let mut processes = world.processes.iter();
            let process = processes.position(|process| process.id() == call.process);
            process.hash(&mut hasher);
            match &call.effect {
                Effect::Record(id) => without_chance(id).hash(&mut hasher),
                effect => effect.to_string().hash(&mut hasher),
            }
        }
    });
    hasher.finish()
}

fn hash_message(message: &Envelope, blocks: &[String], hasher: &mut DefaultHasher) {
    let text = |name| message.properties.text(name);
    let names_a_block = text(property::BLOCK_ID).map(|id| blocks.iter().any(|block| *block == id));
    let own = message.message_id.as_deref().map(without_chance);
    (own, names_a_block).hash(hasher);
    for name in [
        property::MESSAGE_TYPE,
        property::EVENT_ID,
        property::RETRY_COUNT,
    ] {
        text(name).hash(hasher);
    }
}

/// Random ids are UUIDs; derived ones and a publisher's have other lengths.
pub(crate) fn without_chance(id: &str) -> &str {
    if id.len() == 36 { "" } else { id }
}
