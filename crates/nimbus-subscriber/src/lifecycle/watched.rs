use std::fmt;
use std::panic::AssertUnwindSafe;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::{Instant, timeout};

use super::{LifecycleObserver, Signal};

/// How long an observer may take before it is left behind (INB-10).
const BOUND: Duration = Duration::from_secs(5);

/// How often in a row an observer may take too long before it is left out for a while.
const PATIENCE: u32 = 3;

/// For how long it is then left out.
const REST: Duration = Duration::from_secs(60);

/// An observer, and whether it answers.
pub(super) struct Watched {
    observer: Box<dyn LifecycleObserver>,
    /// For each kind of signal: those that an observer leaves to the default answer at once.
    patience: Mutex<[Patience; Signal::KINDS]>,
}

#[derive(Debug, Default)]
struct Patience {
    hangs_in_a_row: u32,
    rests_until: Option<Instant>,
}

impl Watched {
    pub(super) fn new(observer: impl LifecycleObserver) -> Self {
        Self {
            observer: Box::new(observer),
            patience: Mutex::default(),
        }
    }

    /// Tells the observer, unless it is left out.
    pub(super) async fn tell(&self, signal: &Signal<'_>) {
        if !self.is_asked(signal) {
            return;
        }
        // In the block, so that a panic before the observer's future exists is caught as well.
        let call = async { signal.tell(&*self.observer).await };
        let call = AssertUnwindSafe(call).catch_unwind();
        let answered = timeout(BOUND, call).await;
        let problem = match &answered {
            Ok(Ok(Ok(()))) => None,
            Ok(Ok(Err(error))) => Some(error.to_string()),
            Ok(Err(_)) => Some("it panicked".to_owned()),
            Err(_) => Some(format!("it took longer than {BOUND:?}")),
        };
        if let Some(problem) = problem {
            tracing::warn!(
                endpoint = %signal.endpoint(),
                signal = signal.name(),
                problem,
                "a lifecycle observer failed; the message goes on without it"
            );
        }
        if self.rests_after(signal, answered.is_err()) {
            tracing::warn!(
                endpoint = %signal.endpoint(),
                signal = signal.name(),
                "a lifecycle observer hangs; it is not told of this signal for {REST:?}, and then \
                 tried again"
            );
        }
    }

    /// After a rest, one caller tries while the others go on without it.
    fn is_asked(&self, signal: &Signal<'_>) -> bool {
        let patience = &mut self.patience()[signal.kind()];
        let now = Instant::now();
        match patience.rests_until {
            None => true,
            Some(until) if now < until => false,
            Some(_) => {
                patience.rests_until = Some(now + REST);
                true
            }
        }
    }

    /// Notes how a call ended; `true` when the observer is left out from now on.
    fn rests_after(&self, signal: &Signal<'_>, hung: bool) -> bool {
        let patience = &mut self.patience()[signal.kind()];
        if !hung {
            *patience = Patience::default();
            return false;
        }
        patience.hangs_in_a_row = patience.hangs_in_a_row.saturating_add(1);
        let rests = patience.hangs_in_a_row >= PATIENCE;
        if rests {
            patience.rests_until = Some(Instant::now() + REST);
        }
        rests
    }

    fn patience(&self) -> MutexGuard<'_, [Patience; Signal::KINDS]> {
        self.patience.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched")
            .field("patience", &self.patience)
            .finish_non_exhaustive()
    }
}
