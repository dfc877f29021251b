use tokio_util::sync::{CancellationToken, DropGuard};

/// The two steps of stopping: take nothing new, then drop the handlers that still run.
#[derive(Debug, Clone, Default)]
pub(super) struct Stop {
    pub(super) stopping: CancellationToken,
    pub(super) abort: CancellationToken,
}

impl Stop {
    /// Takes both steps when the returned guard is dropped: `run` dropped is a crash of its caller,
    /// and nobody waits for handlers any more. What has returned from its handler still finishes.
    pub(super) fn on_drop(&self) -> (DropGuard, DropGuard) {
        (
            self.stopping.clone().drop_guard(),
            self.abort.clone().drop_guard(),
        )
    }
}
