//! The passes of one endpoint, at their interval.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use super::{CleanupEnd, CleanupReport};
use crate::{Error, Inbox, InboxStore};

/// The longest wait before the first pass.
const FIRST_PASS_WITHIN: Duration = Duration::from_secs(60);

/// Keeps one endpoint's records within its own retention (INB-35).
///
/// Several replicas may clean at once: purging is bounded and idempotent. The first pass comes
/// after a random wait of at most a minute or one interval, whichever is shorter, so that replicas
/// that start together don't all purge together.
#[derive(Debug)]
pub struct CleanupTask<S: InboxStore + ?Sized = dyn InboxStore> {
    pub(super) inbox: Inbox<S>,
}

impl<S: InboxStore + ?Sized> CleanupTask<S> {
    /// The cleanup of this inbox's endpoint, by this inbox's options.
    #[must_use]
    pub fn new(inbox: Inbox<S>) -> Self {
        Self { inbox }
    }

    /// Runs passes until `stop` is cancelled, which ends it promptly, also in the middle of a
    /// purge. A failed pass is logged and the next comes at the usual time.
    ///
    /// # Cancel safety
    ///
    /// It can be dropped at any time, as it can be stopped.
    pub async fn run(self, stop: CancellationToken) {
        let interval = self.inbox.options().cleanup_interval();
        let mut wait = random_part_of(interval.min(FIRST_PASS_WITHIN));
        while stop
            .run_until_cancelled(tokio::time::sleep(wait))
            .await
            .is_some()
        {
            let outcome = self.pass(&stop).await;
            self.log(&outcome, interval);
            wait = interval;
        }
    }

    fn log(&self, outcome: &Result<CleanupReport, Error>, interval: Duration) {
        let endpoint = self.inbox.endpoint();
        match outcome {
            Ok(CleanupReport {
                removed,
                batches,
                end: CleanupEnd::Capped,
            }) => tracing::warn!(
                %endpoint, removed, batches, next_pass_in = ?interval,
                "inbox cleanup reached its cap and left expired records to the next pass; if this \
                 goes on, raise the batch size or the batches per pass"
            ),
            Ok(CleanupReport {
                removed, batches, ..
            }) => tracing::debug!(%endpoint, removed, batches, "inbox cleanup pass ended"),
            Err(error) => tracing::warn!(
                %endpoint, %error, next_pass_in = ?interval,
                "inbox cleanup pass failed: expired records stay until a later pass"
            ),
        }
    }
}

fn random_part_of(longest: Duration) -> Duration {
    longest.mul_f64(fastrand::f64())
}
