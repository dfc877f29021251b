use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Whether a subscriber is alive and ready, with the reason (SUB-31).
///
/// Cheap to clone; hand one to the endpoint of any HTTP framework.
#[derive(Debug, Clone, Default)]
pub struct Health(Arc<Mutex<Phase>>);

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum Phase {
    #[default]
    NotStarted,
    Starting,
    Receiving,
    /// Receives nothing until what it waits for is back.
    Waiting(&'static str),
    Stopping,
    Stopped,
}

/// An answer to a probe.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HealthStatus {
    /// `true` when the probe should pass.
    pub ok: bool,
    /// Why, for the person on call.
    pub reason: &'static str,
}

impl Health {
    /// Whether the process should be kept: `false` only once the subscriber has ended.
    #[must_use]
    pub fn liveness(&self) -> HealthStatus {
        let phase = self.phase();
        HealthStatus {
            ok: phase != Phase::Stopped,
            reason: reason(&phase),
        }
    }

    /// Whether messages are being received.
    #[must_use]
    pub fn readiness(&self) -> HealthStatus {
        let phase = self.phase();
        HealthStatus {
            ok: phase == Phase::Receiving,
            reason: reason(&phase),
        }
    }

    pub(crate) fn enter(&self, phase: Phase) {
        let mut current = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        // Stopping is final: a lane that recovers meanwhile does not undo it.
        let ending = matches!(*current, Phase::Stopping | Phase::Stopped);
        if !ending || matches!(phase, Phase::Stopping | Phase::Stopped) {
            *current = phase;
        }
    }

    fn phase(&self) -> Phase {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

fn reason(phase: &Phase) -> &'static str {
    match phase {
        Phase::NotStarted => "the subscriber has not been started",
        Phase::Starting => "the subscriber is verifying its inbox and its transport",
        Phase::Receiving => "the subscriber is receiving",
        Phase::Waiting(reason) => reason,
        Phase::Stopping => "the subscriber is finishing what is in flight",
        Phase::Stopped => "the subscriber has ended",
    }
}

impl fmt::Display for HealthStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.reason)
    }
}
