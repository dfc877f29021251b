use std::collections::HashSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::{Findings, counterexample};
use crate::action::Candidate;
use crate::fingerprint::fingerprint;
use crate::run::{Choose, run};
use crate::scenario::Scenario;
use crate::schedule::Schedule;
use crate::world::World;

/// When a search ends before it has seen everything.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// After so many schedules.
    pub schedules: u64,
    /// At this time.
    pub until: Option<Instant>,
    /// How many threads run schedules.
    pub threads: usize,
    /// Whether different states are counted, which takes time.
    pub count_states: bool,
}

impl Default for Bounds {
    /// None, on one thread.
    fn default() -> Self {
        Self {
            schedules: u64::MAX,
            until: None,
            threads: 1,
            count_states: false,
        }
    }
}

/// Runs every schedule of a scenario once, by running again from the start with one choice changed.
///
/// `enter` is called on each thread before it runs anything.
pub fn explore(scenario: &Scenario, bounds: Bounds, enter: impl Fn() + Sync) -> Findings {
    let open = Open::default();
    thread::scope(|scope| {
        for _ in 0..bounds.threads.max(1) {
            scope.spawn(|| {
                enter();
                work(scenario, bounds, &open);
            });
        }
    });
    let state = open.state();
    let mut findings = state.findings.clone();
    findings.states = u64::try_from(state.seen.len()).unwrap_or(u64::MAX);
    findings.exhausted = state.prefixes.is_empty() && findings.counterexample.is_none();
    findings
}

/// The schedules that are still to be run, each as the choices that set it apart.
#[derive(Debug)]
struct Open {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    prefixes: Vec<Vec<u8>>,
    working: usize,
    over: bool,
    seen: HashSet<u64>,
    findings: Findings,
}

impl Default for Open {
    fn default() -> Self {
        Self {
            state: Mutex::new(State {
                // The undisturbed course is the first.
                prefixes: vec![Vec::new()],
                working: 0,
                over: false,
                seen: HashSet::new(),
                findings: Findings::default(),
            }),
            changed: Condvar::new(),
        }
    }
}

impl Open {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next prefix; `None` when there is none and nobody works who could find more.
    fn next(&self) -> Option<Vec<u8>> {
        let mut state = self.state();
        loop {
            if state.over {
                return None;
            }
            if let Some(prefix) = state.prefixes.pop() {
                state.working += 1;
                return Some(prefix);
            }
            if state.working == 0 {
                return None;
            }
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }
}

/// The choices that set a schedule apart, and the states seen after them.
struct Prefix {
    schedule: Schedule,
    count_states: bool,
    states: Vec<u64>,
}

impl Choose for Prefix {
    fn choose(&mut self, choice: usize, candidates: &[Candidate]) -> usize {
        (&self.schedule).choose(choice, candidates)
    }

    fn look(&mut self, choice: usize, world: &World<'_>) {
        // Those before were seen in the schedule that this one branches off from.
        if self.count_states && choice >= self.schedule.0.len() {
            self.states.push(fingerprint(world));
        }
    }
}

fn work(scenario: &Scenario, bounds: Bounds, open: &Open) {
    while let Some(prefix) = open.next() {
        let fixed = prefix.len();
        let mut prefix = Prefix {
            schedule: Schedule(prefix),
            count_states: bounds.count_states,
            states: Vec::new(),
        };
        let ran = run(scenario, &mut prefix, false);
        let found = ran
            .violation
            .is_some()
            .then(|| counterexample(scenario, ran.choices.clone()));
        let mut state = open.state();
        state.working -= 1;
        state.findings.add(&ran);
        state.seen.extend(prefix.states);
        for place in fixed..ran.choices.len() {
            for other in 1..ran.widths[place] {
                let mut prefix = ran.choices[..place].to_vec();
                prefix.push(other);
                state.prefixes.push(prefix);
            }
        }
        if let Some(found) = found {
            state.findings.counterexample.get_or_insert(found);
            state.over = true;
        }
        let late = bounds.until.is_some_and(|until| Instant::now() >= until);
        if late || state.findings.schedules >= bounds.schedules {
            state.over = true;
        }
        drop(state);
        open.changed.notify_all();
    }
    open.changed.notify_all();
}
