use std::num::NonZeroU32;
use std::time::Duration;

use super::ResolverOptions;
use crate::{ResolverError, ResolverStore};
use tokio_util::sync::CancellationToken;

const BATCH: NonZeroU32 = NonZeroU32::new(1_000).unwrap();

/// Between two batches, for the reports that come in.
const PAUSE: Duration = Duration::from_millis(50);

/// Removes settled events past their retention, at their interval, until stopped.
pub(super) async fn purge_regularly(
    store: ResolverStore,
    options: ResolverOptions,
    stopping: CancellationToken,
) {
    let purging = async {
        loop {
            if let Err(error) = purge(&store, &options).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    next_in = ?options.purge_interval,
                    "purging settled events failed; they stay until the next pass"
                );
            }
            tokio::time::sleep(options.purge_interval).await;
        }
    };
    stopping.run_until_cancelled(purging).await;
}

async fn purge(store: &ResolverStore, options: &ResolverOptions) -> Result<(), ResolverError> {
    loop {
        let before = options.clock.now().saturating_sub(options.retention);
        let purged = store.purge(before, BATCH).await?;
        if purged.events > 0 {
            tracing::debug!(events = purged.events, "purged settled events");
        }
        if purged.events < u64::from(BATCH.get()) {
            return Ok(());
        }
        tokio::time::sleep(PAUSE).await;
    }
}
