use std::time::Duration;

use super::Intake;
use crate::circuit_breaker::{Admission, Change, Circuit, Gate};

/// One run of a handler, as the circuit breaker sees it. Dropped before it is said how the run
/// ended, it counts as nothing.
#[derive(Debug)]
pub(crate) struct Run<'i> {
    intake: &'i Intake,
    admitted: Option<(&'i Circuit, Admission)>,
}

impl Intake {
    /// Lets a handler run; `None` while the circuit is open.
    pub(crate) fn begin_run(&self) -> Option<Run<'_>> {
        let admitted = match &self.0.circuit {
            None => None,
            Some(circuit) => Some((circuit, circuit.admit(self.0.clock.now())?)),
        };
        Some(Run {
            intake: self,
            admitted,
        })
    }

    /// Lets a handler run once the circuit does.
    pub(crate) async fn begin_next_run(&self) -> Run<'_> {
        loop {
            // Before the circuit is asked, so that no change is missed.
            let mut changed = self.0.changed.subscribe();
            if let Some(run) = self.begin_run() {
                return run;
            }
            self.show();
            let wait = match self.gate() {
                Gate::Open(wait) => wait,
                Gate::Closed | Gate::HalfOpen => Duration::MAX,
            };
            tokio::select! {
                biased;
                _ = changed.changed() => {}
                () = tokio::time::sleep(wait) => {}
            }
        }
    }

    fn circuit_changed(&self, change: Change) {
        match change {
            Change::None => return,
            Change::NextProbe => {}
            Change::Opened(time) => {
                tracing::error!(
                    endpoint = %self.0.endpoint,
                    ?time,
                    "handlers fail too often: the circuit breaker opens, and receiving is paused \
                     for this time; then one message at a time is tried. Look at why they fail"
                );
                self.show();
            }
            Change::Closed => {
                tracing::info!(
                    endpoint = %self.0.endpoint,
                    "handlers succeed again: the circuit breaker closes, and receiving goes on"
                );
                self.show();
            }
        }
        self.0.changed.send_replace(());
    }
}

impl Run<'_> {
    /// Whether it is tried to see if handlers succeed again.
    pub(crate) fn is_probe(&self) -> bool {
        let admitted = self.admitted.as_ref();
        admitted.is_some_and(|(_, run)| run.is_probe)
    }

    pub(crate) fn succeeded(mut self) {
        if let Some((circuit, run)) = self.admitted.take() {
            self.intake.circuit_changed(circuit.succeeded(&run));
        }
    }

    pub(crate) fn failed(mut self) {
        if let Some((circuit, run)) = self.admitted.take() {
            let change = circuit.failed(&run, self.intake.0.clock.now());
            self.intake.circuit_changed(change);
        }
    }
}

impl Drop for Run<'_> {
    fn drop(&mut self) {
        if let Some((circuit, run)) = self.admitted.take() {
            self.intake.circuit_changed(circuit.ended(&run));
        }
    }
}
