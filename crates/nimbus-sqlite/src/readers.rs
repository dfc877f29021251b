//! Reads, on threads of their own: in WAL mode they and the writer don't wait
//! for each other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use rusqlite::{Connection, Transaction, TransactionBehavior};
use tokio::sync::oneshot;

use crate::error::SqliteError;
use crate::queue::JobQueue;
use crate::site::Site;
use crate::step;

const OPERATION: &str = "reading";

/// A read that waits for its turn.
pub(crate) type ReadJob = Box<dyn FnOnce(&Connection, &Site) + Send>;

/// Packs `work` with the way to its caller.
pub(crate) fn job<T, F>(work: F) -> (ReadJob, oneshot::Receiver<Result<T, SqliteError>>)
where
    F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    let job = Box::new(move |connection: &Connection, site: &Site| {
        // A caller that went away has no use for the answer.
        if !reply.is_closed() {
            let _ = reply.send(read(connection, site, work));
        }
    });
    (job, answer)
}

/// One snapshot for all statements of `work`.
fn read<T>(
    connection: &Connection,
    site: &Site,
    work: impl FnOnce(&Transaction<'_>) -> rusqlite::Result<T>,
) -> Result<T, SqliteError> {
    let tx = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)
        .map_err(|source| site.error(source, OPERATION, connection))?;
    step::guard(&tx, site, OPERATION, work)
}

/// The body of a reader's thread.
pub(crate) fn serve(connection: Connection, site: &Site, jobs: &Arc<JobQueue<ReadJob>>) {
    while let Some(job) = jobs.pop() {
        // The closure's own panic was caught already; what is left is a value
        // that panics while it is dropped, and that is its caller's loss alone.
        let _ = catch_unwind(AssertUnwindSafe(|| job(&connection, site)));
    }
}
