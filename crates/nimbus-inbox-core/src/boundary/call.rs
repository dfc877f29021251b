//! One bounded, measured call of a provider.

use std::any::Any;
use std::error::Error as StdError;
use std::panic::AssertUnwindSafe;
use std::time::Duration;

use futures_util::FutureExt;
use tokio::time::{Instant, timeout};

use super::{Boundary, redact};
use crate::{Error, ErrorKind, InboxStore, Operation};

impl<S: InboxStore + ?Sized> Boundary<S> {
    /// Runs `call` for at most `within`. A failure is logged and counted here, once, and comes
    /// back as the provider gave it.
    ///
    /// A store call that unwinds leaves the store's own state to the store, as a task of its own
    /// would; that is what makes asserting unwind safety right.
    pub(super) async fn call<T>(
        &self,
        operation: Operation,
        within: Duration,
        call: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Error> {
        let started = Instant::now();
        let outcome = match timeout(within, AssertUnwindSafe(call).catch_unwind()).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(panic)) => Err(panicked(operation, panic.as_ref())),
            Err(_) => Err(timed_out(operation, within)),
        };
        self.instruments.measure(operation, started.elapsed());
        outcome.inspect_err(|error| self.report(operation, error))
    }

    fn report(&self, operation: Operation, error: &Error) {
        self.instruments.failure(operation, error.kind());
        let provider = self.store.provider();
        let kind = error.kind().as_str();
        // Recorded as text, it is shown with escapes and can't forge a line.
        let cause = cause_of(error);
        let cause = cause.as_str();
        let retry_after = error.retry_after();
        if error.kind() == ErrorKind::Configuration {
            tracing::error!(
                %operation, provider, kind, cause, ?retry_after,
                "the inbox store refused a call: no message can be deduplicated until its set-up \
                 is corrected"
            );
        } else {
            tracing::warn!(
                %operation, provider, kind, cause, ?retry_after,
                "the inbox store failed a call: nothing counts as a duplicate, and what was under \
                 way is tried again"
            );
        }
    }
}

fn timed_out(operation: Operation, within: Duration) -> Error {
    let text = format!("no answer within {within:?}");
    match operation {
        Operation::Record => Error::outcome_unknown(operation, text),
        _ => Error::transient(operation, text),
    }
}

/// What a provider's panic means to its caller.
pub(crate) fn panicked(operation: Operation, panic: &(dyn Any + Send)) -> Error {
    let said = panic
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| panic.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("something that is not text");
    Error::transient(operation, format!("the provider panicked: {said}"))
}

/// The error and its sources in one line, without secrets.
pub(super) fn cause_of(error: &Error) -> String {
    let mut line = error.context().to_owned();
    let mut source = error.source();
    while let Some(cause) = source {
        line.push_str(": ");
        line.push_str(&cause.to_string());
        source = cause.source();
    }
    redact(&line)
}
