use nimbus_inbox_core::config::HumanDuration;
use serde::Deserialize;

use crate::circuit_breaker::CircuitBreaker;
use crate::config::keys::KeyPath;
use crate::config::problem::Problems;

/// Being there opts in to a circuit breaker (SUB-23).
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct CircuitBreakerSection {
    failures: Option<u32>,
    window: Option<HumanDuration>,
    open_for: Option<HumanDuration>,
    open_at_most: Option<HumanDuration>,
    probes: Option<u32>,
}

impl CircuitBreakerSection {
    pub(super) fn breaker(&self, problems: &mut Problems) -> Option<CircuitBreaker> {
        let section = KeyPath::root().key("circuit_breaker");
        let Some(failures) = self.failures else {
            problems.missing(&section.key("failures"), None);
            return None;
        };
        let mut breaker = match self.window {
            Some(window) => CircuitBreaker::within(failures, window.0),
            None => CircuitBreaker::consecutive(failures),
        };
        if let Some(time) = self.open_for {
            breaker = breaker.open_for(time.0);
        }
        if let Some(time) = self.open_at_most {
            breaker = breaker.open_at_most(time.0);
        }
        if let Some(probes) = self.probes {
            breaker = breaker.probes(probes);
        }
        for problem in breaker.problems() {
            problems.at_key(&section, problem);
        }
        Some(breaker)
    }
}
