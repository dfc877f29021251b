//! What must be true in the end, whatever happened before.

use nimbus_messaging::{ParkedCopy, property};

use crate::action::Action;
use crate::command::Command;
use crate::event::{ENDPOINT, Event};
use crate::oracle::Window;
use crate::run::Run;
use crate::scenario::Operator;
use crate::world::session;

/// More blocks than the events of any scenario can cause once nothing disturbs.
const TOO_MANY_BLOCKS: u32 = 30;

/// How often time passes while the subscriber waits for nothing but its own pauses.
const PAUSES: u32 = 5;

/// Lifts what blocks as an operator would, until nothing is left to do, and looks at what became of
/// every event. Then publishes one more event in each session: it must still work.
pub(crate) fn close(run: &mut Run<'_>) {
    lift_blocks(run);
    if run.is_over() {
        return;
    }
    check_rest(run);
    let sessions = u8::try_from(run.world.scenario.sessions.len()).unwrap_or(u8::MAX);
    for number in 0..sessions {
        let event = run.world.oracle.add_event(number);
        run.note(|| format!("the publisher sends one more event, {event}"));
        run.send(event);
        lift_blocks(run);
    }
    if run.is_over() {
        return;
    }
    check_rest(run);
    for number in 0..sessions {
        let state = run.world.state(number);
        let mut known = run.world.oracle.known();
        if state.has_deferred() {
            known.violate(|| format!("session s{number} drains for ever: {state:?}"));
        }
    }
    let mut known = run.world.oracle.known();
    known.check_told();
    known.check_resolved();
    known.check_recorded();
}

fn lift_blocks(run: &mut Run<'_>) {
    let sessions = u8::try_from(run.world.scenario.sessions.len()).unwrap_or(u8::MAX);
    for _ in 0..TOO_MANY_BLOCKS {
        run.finish();
        wait_for_pauses(run);
        if run.is_over() {
            return;
        }
        let blocked = (0..sessions).find_map(|number| {
            let state = run.world.state(number);
            let event = Event::of_id(state.blocked_by_event_id.as_ref())?;
            Some((event, state.blocked_by_handoff))
        });
        let Some((event, by_handoff)) = blocked else {
            return;
        };
        check_retried(run, event);
        let command = match (by_handoff, run.world.scenario.operator) {
            (true, _) => Command::CompleteHandoff,
            (false, Operator::Resubmits) => Command::Resubmit,
            (false, Operator::Skips) => Command::Skip,
        };
        run.perform(Action::Command(command, event));
    }
    let mut known = run.world.oracle.known();
    known.violate(|| "no operator gets a session free".to_owned());
}

/// SUB-10: what only an operator can lift has had all its retries.
fn check_retried(run: &mut Run<'_>, event: Event) {
    let mut known = run.world.oracle.known();
    let session = known.fates[event.index()].session;
    let state = run.world.state(session);
    // A message without an id can't be told to be the one that blocks.
    let given_up = known.fates[event.index()].given_up || run.world.scenario.anonymous;
    let left = state.blocked_retry_count < run.world.scenario.retries;
    if left && !state.blocked_by_handoff && !given_up {
        known.violate(|| format!("{event} blocks its session, and its retry is lost"));
    }
}

/// After some failures the subscriber pauses by its own clock.
fn wait_for_pauses(run: &mut Run<'_>) {
    for _ in 0..PAUSES {
        if run.is_over() || run.world.broker.messages(ENDPOINT).is_empty() {
            return;
        }
        run.perform(Action::PassTime);
        run.finish();
    }
}

/// Nothing waits anywhere, and every event is settled.
fn check_rest(run: &mut Run<'_>) {
    let broker = &run.world.broker;
    let waiting = broker.messages(ENDPOINT);
    let parked: Vec<_> = (0_u8..)
        .zip(&run.world.scenario.sessions)
        .flat_map(|(number, _)| {
            let state = run.world.state(number);
            let counted = state.lowest_unsettled()..state.next_deferral_sequence;
            let copies = broker.parked(ENDPOINT, &session(number));
            let with_counted = move |copy: ParkedCopy| {
                let is_counted = counted.contains(&copy.reference.sequence);
                (copy, is_counted)
            };
            copies.into_iter().map(with_counted)
        })
        .collect();
    let mut known = run.world.oracle.known();
    if let Some(message) = waiting.first() {
        known.violate(|| format!("a message is stuck in the queue: {message:?}"));
    }
    for (copy, is_counted) in parked {
        let event = copy.envelope.properties.text(property::EVENT_ID);
        let event = event.and_then(|id| Event::of_text(&id));
        let settled = event.is_some_and(|event| known.fates[event.index()].settled.is_some());
        if settled && !is_counted && known.overlapped {
            known.windows.count(Window::CopyLeft);
            continue;
        }
        let reference = copy.reference;
        known.violate(|| format!("a parked copy is left and nothing drains it: {reference:?}"));
    }
    let published = usize::from(run.world.published).max(known.fates.len());
    let lost = known
        .fates
        .iter()
        .take(published)
        .position(|fate| fate.settled.is_none());
    if let Some(lost) = lost {
        let event = Event(u8::try_from(lost).unwrap_or(u8::MAX));
        known.violate(|| format!("{event} is lost"));
    }
}
