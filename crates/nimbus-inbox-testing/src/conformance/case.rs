use std::time::Duration;

use futures_util::future::BoxFuture;

use super::outcome::CaseResult;
use super::watched::{Ended, watched};

/// One case of a suite, ready to run once.
pub(super) struct Case {
    pub(super) name: String,
    /// Why the case can't run here.
    pub(super) unavailable: Option<String>,
    pub(super) time_limit: Duration,
    pub(super) body: Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>,
}

impl Case {
    pub(super) fn result(self) -> CaseResult {
        match self.unavailable {
            Some(reason) => CaseResult::Ignored(reason),
            None => match self.run() {
                Ok(()) => CaseResult::Passed,
                Err(reason) => CaseResult::Failed(reason),
            },
        }
    }

    /// Runs the case on a runtime of its own, whether it is available or not.
    pub(super) fn run(self) -> Result<(), String> {
        if let Some(reason) = self.unavailable {
            return Err(format!("can't run here: {reason}"));
        }
        let limit = self.time_limit;
        watched(limit, self.body).map_err(|ended| match ended {
            Ended::Panicked(text) => text,
            Ended::Hung => format!("{} hung: it was not done after {limit:?}", self.name),
            Ended::NoRuntime(error) => format!("no runtime for the case: {error}"),
        })
    }
}
