use std::fmt;

use nimbus_inbox_testing::ProcessId;

use crate::command::Command;
use crate::effect::Effect;
use crate::event::Event;
use crate::gate::Waiting;
use crate::limits::{Disturbance, Limits};
use crate::outcome::Outcome;
use crate::world::World;

/// What the explorer can have happen next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// The effect of this number happens.
    Go(u64, Outcome),
    Crash(ProcessId),
    Expire(ProcessId),
    Publish,
    PublishAgain(Event),
    Command(Command, Event),
    PassTime,
    /// Nothing more disturbs.
    End,
}

/// An action, and the disturbance that it is.
pub(crate) type Candidate = (Action, Option<Disturbance>);

/// Collects what can happen next, the undisturbed course first.
pub(crate) fn candidates(world: &World<'_>, last: Last, left: &Limits, found: &mut Vec<Candidate>) {
    found.clear();
    let arrivals = world.gate.look(|waiting| {
        let Some(next) = next_of(waiting, last) else {
            return Arrivals::Free;
        };
        found.push((Action::Go(next.number, Outcome::Succeeds), None));
        if waiting.len() == 1 && next.effect.is_read() {
            return Arrivals::None;
        }
        disturb(next, left, found);
        switches(waiting, next, left, found);
        if next.effect.enqueues() {
            Arrivals::Early
        } else {
            Arrivals::None
        }
    });
    match arrivals {
        Arrivals::None => {}
        Arrivals::Early => arrive(world, Some(Disturbance::Early), left, found),
        Arrivals::Free => arrive(world, None, left, found),
    }
}

enum Arrivals {
    None,
    /// Before something that the subscriber sends to itself.
    Early,
    /// The system is idle.
    Free,
}

/// What happened last.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Last {
    /// The task whose effect it was.
    pub(crate) task: Option<tokio::task::Id>,
    /// Effects with higher numbers came to the gate because of it.
    pub(crate) number: u64,
}

/// The effect that comes next where nothing disturbs: the one of the task that went last, then one
/// that follows from it, then the oldest.
fn next_of(waiting: &[Waiting], last: Last) -> Option<&Waiting> {
    let of_task = |call: &&Waiting| last.task.is_some() && call.task == last.task;
    let follows = |call: &&Waiting| call.number > last.number;
    let mut calls = waiting.iter();
    let of_task = calls.clone().find(of_task);
    of_task.or_else(|| calls.find(follows)).or(waiting.first())
}

fn disturb(next: &Waiting, left: &Limits, found: &mut Vec<Candidate>) {
    if let Effect::Handler(_) = next.effect {
        for (outcome, disturbance) in Outcome::OTHERS {
            if left.allows(disturbance) {
                found.push((Action::Go(next.number, outcome), Some(disturbance)));
            }
        }
    }
    let works = !next.effect.is_of_lane() && !next.effect.is_read();
    if next.effect.is_crash_point() && left.allows(Disturbance::Crash) {
        found.push((Action::Crash(next.process), Some(Disturbance::Crash)));
    }
    if works && left.allows(Disturbance::Expiry) {
        found.push((Action::Expire(next.process), Some(Disturbance::Expiry)));
    }
}

fn switches(waiting: &[Waiting], next: &Waiting, left: &Limits, found: &mut Vec<Candidate>) {
    if left.allows(Disturbance::Switch) {
        let others = waiting.iter().filter(|call| call.number != next.number);
        found.extend(others.map(|call| {
            let go = Action::Go(call.number, Outcome::Succeeds);
            (go, Some(Disturbance::Switch))
        }));
    }
}

/// Adds what comes from outside: it matters only before which other message it is enqueued.
fn arrive(
    world: &World<'_>,
    as_what: Option<Disturbance>,
    left: &Limits,
    found: &mut Vec<Candidate>,
) {
    if as_what.is_none_or(|disturbance| left.allows(disturbance)) {
        if world.unpublished().is_some() {
            found.push((Action::Publish, as_what));
        }
        if world.due_in().is_some() {
            found.push((Action::PassTime, as_what));
        }
    }
    if found.is_empty() {
        found.push((Action::End, None));
    }
    let published = (0..world.published).map(Event);
    if left.allows(Disturbance::Duplicate) {
        let again = |event| (Action::PublishAgain(event), Some(Disturbance::Duplicate));
        found.extend(published.clone().map(again));
    }
    if left.allows(Disturbance::Command) {
        for command in Command::ALL {
            // One of a session's events is enough to name the session.
            let events = published
                .clone()
                .filter(|event| command != Command::Drain || is_first(world, *event));
            let given = |event| (Action::Command(command, event), Some(Disturbance::Command));
            found.extend(events.map(given));
        }
    }
}

fn is_first(world: &World<'_>, event: Event) -> bool {
    let known = world.oracle.known();
    let session = known.fates[event.index()].session;
    known.fates.iter().position(|fate| fate.session == session) == Some(event.index())
}

/// An action as a reader of a trace sees it.
pub(crate) struct Shown<'a>(pub(crate) Action, pub(crate) &'a [Waiting]);

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Action::Go(number, outcome) => {
                let Some(call) = self.1.iter().find(|call| call.number == number) else {
                    return Ok(());
                };
                write!(f, "{}: {}", call.process, call.effect)?;
                match call.effect {
                    Effect::Handler(_) => write!(f, " {outcome}"),
                    _ => Ok(()),
                }
            }
            Action::Crash(process) => write!(f, "{process} CRASHES"),
            Action::Expire(process) => write!(f, "{process} LOSES ITS LOCK and goes on"),
            Action::Publish => f.write_str("the publisher sends the next event"),
            Action::PublishAgain(event) => write!(f, "the publisher sends {event} again"),
            Action::Command(command, event) => write!(f, "an operator {command} {event}"),
            Action::PassTime => f.write_str("time passes"),
            Action::End => f.write_str("nothing more disturbs"),
        }
    }
}
