use super::{Intake, Trial};
use crate::circuit_breaker::Gate;

/// What a lane receives by. While the circuit is half-open only one lane may, and its pass says
/// that it is this one.
#[derive(Debug)]
pub(in crate::running) struct LanePass {
    intake: Intake,
    trial: Option<Trial>,
}

impl Intake {
    /// The pass of a lane that was accepted. That it was does not say that it may receive.
    pub(in crate::running) fn pass(&self) -> LanePass {
        let mut pass = LanePass {
            intake: self.clone(),
            trial: None,
        };
        pass.admits();
        pass
    }
}

impl LanePass {
    /// Whether the lane may take a message now.
    pub(in crate::running) fn admits(&mut self) -> bool {
        if self.intake.0.store.is_closed() {
            return false;
        }
        match self.intake.gate() {
            Gate::Closed => {
                self.trial = None;
                true
            }
            Gate::HalfOpen => {
                if self.trial.is_none() {
                    self.trial = self.intake.take_trial();
                }
                self.trial.is_some()
            }
            Gate::Open(_) => false,
        }
    }
}
