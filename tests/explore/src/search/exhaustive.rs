use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Instant;

use super::{Findings, counterexample};
use crate::run::run;
use crate::scenario::Scenario;
use crate::schedule::Schedule;

/// When a search ends before it has seen everything.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    /// After so many schedules.
    pub schedules: u64,
    /// At this time.
    pub until: Option<Instant>,
    /// How many threads run schedules.
    pub threads: usize,
}

impl Default for Bounds {
    /// None, on one thread.
    fn default() -> Self {
        Self {
            schedules: u64::MAX,
            until: None,
            threads: 1,
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

fn work(scenario: &Scenario, bounds: Bounds, open: &Open) {
    while let Some(prefix) = open.next() {
        let fixed = prefix.len();
        let ran = run(scenario, &mut &Schedule(prefix), false);
        let found = ran
            .violation
            .is_some()
            .then(|| counterexample(scenario, ran.choices.clone()));
        let mut state = open.state();
        state.working -= 1;
        state.findings.add(&ran);
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
