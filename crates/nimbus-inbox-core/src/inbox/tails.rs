//! Work that outlives the future that began it.

use std::fmt::Display;

use tokio_util::task::TaskTracker;
use tracing::{Instrument, Span};

use crate::{Error, Operation};

/// The records that are under way. A dropped future is a cancelled one, so what must finish after
/// the handler returned runs in a task of its own (INB-14).
#[derive(Debug, Clone)]
pub(crate) struct Tails(TaskTracker);

impl Default for Tails {
    fn default() -> Self {
        let tracker = TaskTracker::new();
        // A closed tracker still takes tasks, and its `wait` ends whenever it is empty.
        tracker.close();
        Self(tracker)
    }
}

impl Tails {
    /// Starts `work` in its first poll, so that an `.await` right after the handler returned
    /// leaves no gap, and waits for its result.
    pub(crate) async fn run<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, Error>> + Send + 'static,
    ) -> Result<T, Error> {
        let task = self.0.spawn(work.instrument(Span::current()));
        task.await.unwrap_or_else(|reason| Err(lost(&reason)))
    }

    pub(crate) async fn drained(&self) {
        self.0.wait().await;
    }
}

fn lost(reason: &dyn Display) -> Error {
    tracing::warn!(
        %reason,
        "the record of a handled message was cut off, most likely by the end of the runtime: its \
         redelivery may run the handler again; await `drained` before the runtime ends"
    );
    Error::transient(
        Operation::Record,
        "the record of the message was cut off; the message is left for redelivery",
    )
}
