use std::time::Duration;

use crate::action::{Action, Candidate, Last, Shown, candidates};
use crate::closing::close;
use crate::event::Event;
use crate::limits::Limits;
use crate::oracle::Windows;
use crate::scenario::Scenario;
use crate::world::World;

/// More steps than any schedule needs.
const TOO_MANY_STEPS: u64 = 3_000;

/// Chooses among the candidates of one step.
pub(crate) trait Choose {
    fn choose(&mut self, choice: usize, candidates: &[Candidate]) -> usize;

    /// Looks at the world before a choice.
    fn look(&mut self, _choice: usize, _world: &World<'_>) {}
}

/// One schedule, as it went.
#[derive(Debug, Default)]
pub(crate) struct Ran {
    /// The candidate chosen where there were several.
    pub(crate) choices: Vec<u8>,
    /// How many there were.
    pub(crate) widths: Vec<u8>,
    pub(crate) steps: u64,
    pub(crate) windows: Windows,
    pub(crate) violation: Option<String>,
    /// What happened, if it was asked for.
    pub(crate) trace: Vec<String>,
}

/// A world on its way.
#[derive(Debug)]
pub(crate) struct Run<'s> {
    pub(crate) world: World<'s>,
    last: Last,
    traced: bool,
    ran: Ran,
}

/// Runs one schedule to its end and on until nothing is left to do.
pub(crate) fn run(scenario: &Scenario, choose: &mut impl Choose, traced: bool) -> Ran {
    let mut run = Run {
        world: World::new(scenario),
        last: Last::default(),
        traced,
        ran: Ran::default(),
    };
    run.explore(scenario.limits, choose);
    run.note(|| "-- from here on nothing disturbs".to_owned());
    if !run.is_over() {
        close(&mut run);
    }
    let mut ran = run.ran;
    let known = run.world.oracle.known();
    ran.windows = known.windows;
    ran.violation.clone_from(&known.violation);
    drop(known);
    ran
}

impl Run<'_> {
    fn explore(&mut self, mut left: Limits, choose: &mut impl Choose) {
        let mut found = Vec::new();
        while !self.is_over() {
            candidates(&self.world, self.last, &left, &mut found);
            let chosen = match found.len() {
                0 | 1 => 0,
                width => {
                    choose.look(self.ran.choices.len(), &self.world);
                    let chosen = choose.choose(self.ran.choices.len(), &found).min(width - 1);
                    self.ran.choices.push(small(chosen));
                    self.ran.widths.push(small(width));
                    chosen
                }
            };
            let Some((action, disturbance)) = found.get(chosen).copied() else {
                return;
            };
            if action == Action::End {
                return;
            }
            if let Some(disturbance) = disturbance {
                left.spend(disturbance);
            }
            self.perform(action);
        }
    }

    /// Lets the undisturbed course go on until nothing happens any more by itself.
    pub(crate) fn finish(&mut self) {
        let mut found = Vec::new();
        while !self.is_over() {
            candidates(&self.world, self.last, &Limits::default(), &mut found);
            match found.first() {
                None | Some((Action::End, _)) => return,
                Some((action, _)) => self.perform(*action),
            }
        }
    }

    /// Whether a rule was broken: what follows from that is of no interest.
    pub(crate) fn is_over(&self) -> bool {
        self.world.oracle.known().violation.is_some()
    }

    pub(crate) fn perform(&mut self, action: Action) {
        self.note_action(action);
        self.ran.steps += 1;
        if self.ran.steps > TOO_MANY_STEPS {
            let mut known = self.world.oracle.known();
            known.violate(|| "the schedule comes to no end".to_owned());
        }
        self.last.number = self.world.gate.last_number();
        match action {
            Action::Go(number, outcome) => {
                self.last.task = self.world.gate.task_of(number);
                self.world.gate.grant(number, outcome);
                self.world.settle();
            }
            Action::Crash(process) => self.world.crash(process),
            Action::Expire(process) => self.world.expire(process),
            Action::Publish => {
                self.world.publish();
                self.world.settle();
            }
            Action::PublishAgain(event) => self.send(event),
            Action::Command(command, event) => {
                self.world.command(command, event);
                self.world.settle();
            }
            Action::PassTime => {
                let due = self.world.due_in().unwrap_or(Duration::from_secs(1));
                self.world.pass_time(due.max(Duration::from_millis(1)));
            }
            Action::End => {}
        }
    }

    pub(crate) fn send(&mut self, event: Event) {
        self.world.send(event);
        self.world.settle();
    }

    pub(crate) fn note(&mut self, line: impl FnOnce() -> String) {
        if self.traced {
            self.ran.trace.push(line());
        }
    }

    fn note_action(&mut self, action: Action) {
        if self.traced {
            let line = self
                .world
                .gate
                .look(|waiting| Shown(action, waiting).to_string());
            self.ran.trace.push(line);
        }
    }
}

/// No step has so many candidates, no scenario so many messages.
fn small(number: usize) -> u8 {
    u8::try_from(number).unwrap_or(u8::MAX)
}
