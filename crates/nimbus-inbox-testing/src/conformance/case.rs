use std::any::Any;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::runtime::Builder;
use tokio::time::timeout;

use super::outcome::CaseResult;

/// One case of a suite, ready to run once.
pub(super) struct Case {
    pub(super) name: String,
    /// Why the case can't run here.
    pub(super) unavailable: Option<String>,
    pub(super) time_limit: Duration,
    pub(super) body: Box<dyn FnOnce() -> BoxFuture<'static, ()> + Send>,
}

/// Enough to let calls truly overlap, few enough for many cases at once.
const WORKERS: usize = 4;

/// How long a finished case may take to stop what it started.
const SHUTDOWN: Duration = Duration::from_secs(5);

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
        let runtime = Builder::new_multi_thread()
            .worker_threads(WORKERS)
            .enable_all()
            .build()
            .map_err(|error| format!("no runtime for the case: {error}"))?;
        // On a worker, so that the limit also ends a case whose store blocks its thread.
        let task = runtime.spawn((self.body)());
        let ended = runtime.block_on(async { timeout(self.time_limit, task).await });
        let result = match ended {
            Ok(Ok(())) => Ok(()),
            Ok(Err(stopped)) => Err(match stopped.try_into_panic() {
                Ok(payload) => text_of(payload.as_ref()),
                Err(cancelled) => cancelled.to_string(),
            }),
            Err(_) => Err(format!(
                "{} hung: it was not done after {:?}",
                self.name, self.time_limit
            )),
        };
        runtime.shutdown_timeout(SHUTDOWN);
        result
    }
}

fn text_of(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| payload.downcast_ref::<&str>().copied())
        .unwrap_or("panicked without a text")
        .to_owned()
}
