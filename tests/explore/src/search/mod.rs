//! Which schedules are run.

mod exhaustive;
mod random;

pub use exhaustive::{Bounds, explore};
pub use random::wander;

use std::fmt;

use crate::oracle::Windows;
use crate::run::{Ran, run};
use crate::scenario::Scenario;
use crate::schedule::Schedule;

/// What was found in one scenario.
#[derive(Debug, Clone, Default)]
pub struct Findings {
    /// How many schedules were run; random ones may repeat, all others differ.
    pub schedules: u64,
    /// Whether these were all there are within the limits.
    pub exhausted: bool,
    /// How many different states there were before a choice, where they were counted.
    pub states: u64,
    /// How many effects and other steps they had.
    pub steps: u64,
    /// How often each window was met.
    pub windows: Windows,
    /// The first schedule that breaks a rule.
    pub counterexample: Option<Counterexample>,
}

/// A schedule that breaks a rule.
#[derive(Debug, Clone)]
pub struct Counterexample {
    /// The scenario it belongs to.
    pub scenario: String,
    /// How to have it again.
    pub schedule: Schedule,
    /// The rule.
    pub violation: String,
    /// What happened.
    pub trace: Vec<String>,
}

impl Findings {
    fn add(&mut self, ran: &Ran) {
        self.schedules += 1;
        self.steps += ran.steps;
        self.windows.add(&ran.windows);
    }

    /// Adds those of another part.
    pub fn merge(&mut self, other: Self) {
        self.schedules += other.schedules;
        self.steps += other.steps;
        self.states += other.states;
        self.windows.add(&other.windows);
        if self.counterexample.is_none() {
            self.counterexample = other.counterexample;
        }
    }
}

/// Runs one schedule and tells everything about it.
#[must_use]
pub fn replay(scenario: &Scenario, schedule: &Schedule) -> (Vec<String>, Option<String>) {
    let ran = run(scenario, &mut &*schedule, true);
    (ran.trace, ran.violation)
}

fn counterexample(scenario: &Scenario, choices: Vec<u8>) -> Counterexample {
    let schedule = Schedule(choices);
    let (trace, violation) = replay(scenario, &schedule);
    Counterexample {
        scenario: format!("{}@{}", scenario.name, scenario.limits.depth),
        schedule,
        violation: violation.unwrap_or_else(|| "it did not happen again".to_owned()),
        trace,
    }
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}: {}", self.scenario, self.violation)?;
        for line in &self.trace {
            writeln!(f, "    {line}")?;
        }
        write!(
            f,
            "again with: cargo xtask explore --replay '{}:{}'",
            self.scenario, self.schedule
        )
    }
}
