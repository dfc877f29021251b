use fastrand::Rng;

use super::{Findings, counterexample};
use crate::action::Candidate;
use crate::run::{Choose, run};
use crate::scenario::Scenario;
use crate::search::Bounds;

/// Runs schedules whose choices are drawn, for worlds that are too large to exhaust. The same seed
/// gives the same schedules.
#[must_use]
pub fn wander(scenario: &Scenario, seed: u64, bounds: Bounds) -> Findings {
    let mut findings = Findings::default();
    let mut dice = Dice(Rng::with_seed(seed));
    while findings.schedules < bounds.schedules
        && bounds
            .until
            .is_none_or(|until| std::time::Instant::now() < until)
    {
        let ran = run(scenario, &mut dice, false);
        findings.add(&ran);
        if ran.violation.is_some() {
            findings.counterexample = Some(counterexample(scenario, ran.choices));
            break;
        }
    }
    findings
}

/// Keeps to the undisturbed course four times out of five.
struct Dice(Rng);

impl Choose for Dice {
    fn choose(&mut self, _: usize, candidates: &[Candidate]) -> usize {
        if self.0.u8(..5) < 4 {
            return 0;
        }
        self.0.usize(..candidates.len())
    }
}
