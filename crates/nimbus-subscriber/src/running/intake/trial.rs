use std::sync::atomic::Ordering;

use super::Intake;

/// Keeps every other lane from receiving while the circuit is half-open.
#[derive(Debug)]
pub(crate) struct Trial(Intake);

impl Intake {
    /// The trial of a lane that wants to receive; `None` while there is one.
    pub(super) fn take_trial(&self) -> Option<Trial> {
        let trials = &self.0.trials;
        let taken = trials.compare_exchange(0, 1, Ordering::SeqCst, Ordering::SeqCst);
        taken.is_ok().then(|| Trial(self.clone()))
    }

    /// The trial of a message that is tried. Its lane has one already, unless it was accepted
    /// before the circuit opened.
    pub(crate) fn join_trial(&self) -> Trial {
        self.0.trials.fetch_add(1, Ordering::SeqCst);
        Trial(self.clone())
    }
}

impl Drop for Trial {
    fn drop(&mut self) {
        self.0.0.trials.fetch_sub(1, Ordering::SeqCst);
        self.0.0.changed.send_replace(());
    }
}
