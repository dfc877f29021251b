use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use nimbus_inbox_core::Timestamp;

use super::CircuitBreaker;

/// The circuit of one endpoint.
#[derive(Debug)]
pub(crate) struct Circuit {
    options: CircuitBreaker,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Raised with every change of phase: what began in an earlier one counts no more.
    generation: u64,
}

#[derive(Debug)]
enum Phase {
    Closed {
        /// When the failures that count were; in no order that matters without a window.
        failures: VecDeque<Timestamp>,
    },
    Open {
        since: Timestamp,
        time: Duration,
    },
    HalfOpen {
        /// How long it was open before.
        time: Duration,
        successes: u32,
        /// A run is under way whose end decides.
        probing: bool,
    },
}

/// What may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gate {
    /// Everything.
    Closed,
    /// One run at a time.
    HalfOpen,
    /// Nothing for this long.
    Open(Duration),
}

/// The right to run a handler once. Its end has to be told.
#[derive(Debug)]
pub(crate) struct Admission {
    generation: u64,
    /// Whether its end decides what the half-open circuit becomes.
    pub(crate) is_probe: bool,
}

/// What the end of a run changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Change {
    None,
    /// A probe ended, and another may begin.
    NextProbe,
    Opened(Duration),
    Closed,
}

impl Circuit {
    pub(crate) fn new(options: CircuitBreaker) -> Self {
        let phase = Phase::Closed {
            failures: VecDeque::new(),
        };
        Self {
            options,
            state: Mutex::new(State {
                phase,
                generation: 0,
            }),
        }
    }

    pub(crate) fn gate(&self, now: Timestamp) -> Gate {
        let mut state = self.state();
        state.advance(now);
        match &state.phase {
            Phase::Closed { .. } => Gate::Closed,
            Phase::HalfOpen { .. } => Gate::HalfOpen,
            Phase::Open { since, time } => {
                Gate::Open(time.saturating_sub(now.saturating_duration_since(*since)))
            }
        }
    }

    /// Lets a run begin; `None` while it is open, or another run decides.
    pub(crate) fn admit(&self, now: Timestamp) -> Option<Admission> {
        let mut state = self.state();
        state.advance(now);
        let is_probe = match &mut state.phase {
            Phase::Closed { .. } => false,
            Phase::HalfOpen { probing, .. } if !*probing => {
                *probing = true;
                true
            }
            Phase::HalfOpen { .. } | Phase::Open { .. } => return None,
        };
        Some(Admission {
            generation: state.generation,
            is_probe,
        })
    }

    pub(crate) fn succeeded(&self, run: &Admission) -> Change {
        let mut state = self.state();
        if run.generation != state.generation {
            return Change::None;
        }
        match &mut state.phase {
            Phase::Closed { failures } => {
                if self.options.window.is_none() {
                    failures.clear();
                }
                Change::None
            }
            Phase::HalfOpen {
                successes, probing, ..
            } => {
                *successes = successes.saturating_add(1);
                *probing = false;
                if *successes < self.options.probes {
                    return Change::NextProbe;
                }
                state.enter(Phase::Closed {
                    failures: VecDeque::new(),
                });
                Change::Closed
            }
            Phase::Open { .. } => Change::None,
        }
    }

    pub(crate) fn failed(&self, run: &Admission, now: Timestamp) -> Change {
        let mut state = self.state();
        if run.generation != state.generation {
            return Change::None;
        }
        let time = match &mut state.phase {
            Phase::Closed { failures } => {
                failures.push_back(now);
                if let Some(window) = self.options.window {
                    failures.retain(|&at| now.saturating_duration_since(at) < window);
                }
                if failures.len() < usize::try_from(self.options.failures).unwrap_or(usize::MAX) {
                    return Change::None;
                }
                self.options.open_for
            }
            Phase::HalfOpen { time, .. } => time.saturating_mul(2).min(self.options.open_at_most),
            Phase::Open { .. } => return Change::None,
        };
        state.enter(Phase::Open { since: now, time });
        Change::Opened(time)
    }

    /// The run says nothing about whether handlers succeed.
    pub(crate) fn ended(&self, run: &Admission) -> Change {
        let mut state = self.state();
        if run.generation != state.generation {
            return Change::None;
        }
        match &mut state.phase {
            Phase::HalfOpen { probing, .. } => {
                *probing = false;
                Change::NextProbe
            }
            Phase::Closed { .. } | Phase::Open { .. } => Change::None,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn enter(&mut self, phase: Phase) {
        self.phase = phase;
        self.generation = self.generation.wrapping_add(1);
    }

    /// Half-opens it when its time is over.
    fn advance(&mut self, now: Timestamp) {
        let Phase::Open { since, time } = &mut self.phase else {
            return;
        };
        // A clock that was put back must not keep it open for so much longer.
        *since = (*since).min(now);
        let time = *time;
        if now.saturating_duration_since(*since) >= time {
            self.enter(Phase::HalfOpen {
                time,
                successes: 0,
                probing: false,
            });
        }
    }
}
