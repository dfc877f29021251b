//! One pass: bounded batches until the endpoint is clean.

use tokio_util::sync::CancellationToken;

use super::CleanupTask;
use crate::{Cutoff, Error, InboxStore};

/// What a pass removed, and why it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct CleanupReport {
    /// Records removed. A batch that shutdown interrupted is not counted.
    pub removed: u64,
    /// Purge calls that answered.
    pub batches: u32,
    /// Why it ended.
    pub end: CleanupEnd,
}

/// Why a pass ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum CleanupEnd {
    /// A batch came back short: nothing expired was left.
    CaughtUp,
    /// The cap was reached while batches still came back full: the next pass goes on.
    Capped,
    /// Shutdown.
    Stopped,
}

impl<S: InboxStore + ?Sized> CleanupTask<S> {
    /// One pass: batches with pauses between them, until one comes back short, the cap is
    /// reached, or `stop` is cancelled.
    ///
    /// # Errors
    ///
    /// The store's failure, with a neutral text. What earlier batches removed stays removed.
    ///
    /// # Cancel safety
    ///
    /// It can be dropped; a batch is removed or not (INB-25), and the next pass goes on.
    pub async fn pass(&self, stop: &CancellationToken) -> Result<CleanupReport, Error> {
        let options = self.inbox.options();
        let instruments = self.inbox.boundary().instruments();
        let mut report = CleanupReport {
            removed: 0,
            batches: 0,
            end: CleanupEnd::Stopped,
        };
        loop {
            let Some(removed) = stop.run_until_cancelled(self.batch()).await else {
                return Ok(report);
            };
            let removed = removed?;
            instruments.removed(removed);
            report.removed += removed;
            report.batches += 1;
            if removed < u64::from(options.purge_limit().get()) {
                instruments.left(0);
                report.end = CleanupEnd::CaughtUp;
                return Ok(report);
            }
            if report.batches >= options.purge_batches_per_pass() {
                // How many are left can't be told without counting them; a full batch says that
                // there is about one more at least.
                instruments.left(removed);
                report.end = CleanupEnd::Capped;
                return Ok(report);
            }
            let pause = tokio::time::sleep(options.purge_pause());
            if stop.run_until_cancelled(pause).await.is_none() {
                return Ok(report);
            }
        }
    }

    async fn batch(&self) -> Result<u64, Error> {
        let options = self.inbox.options();
        let cutoff = Cutoff::OlderThan(options.retention_period());
        self.inbox
            .boundary()
            .purge(self.inbox.endpoint(), cutoff, options.purge_limit())
            .await
    }
}
