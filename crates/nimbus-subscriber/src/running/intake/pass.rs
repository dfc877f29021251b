use std::sync::atomic::Ordering;

use super::Intake;
use crate::circuit_breaker::Gate;

/// What a lane receives by. While the circuit is half-open only one lane may, and its pass says
/// that it is this one.
#[derive(Debug)]
pub(in crate::running) struct LanePass {
    intake: Intake,
    trial: bool,
}

impl Intake {
    /// The pass of a lane that was accepted. That it was does not say that it may receive.
    pub(in crate::running) fn pass(&self) -> LanePass {
        let mut pass = LanePass {
            intake: self.clone(),
            trial: false,
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
                self.give_back_trial();
                true
            }
            Gate::HalfOpen => self.trial || self.take_trial(),
            Gate::Open(_) => false,
        }
    }

    fn take_trial(&mut self) -> bool {
        let was_out = self.intake.0.trial_is_out.swap(true, Ordering::SeqCst);
        self.trial = !was_out;
        self.trial
    }

    fn give_back_trial(&mut self) {
        if std::mem::take(&mut self.trial) {
            self.intake.0.trial_is_out.store(false, Ordering::SeqCst);
            self.intake.0.changed.send_replace(());
        }
    }
}

impl Drop for LanePass {
    fn drop(&mut self) {
        self.give_back_trial();
    }
}
