//! Signals to the application (INB-09, INB-10).

use std::error::Error as StdError;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures_util::FutureExt;
use nimbus_inbox_core::{EndpointId, Timestamp};
use nimbus_messaging::Headers;

/// How long an observer may take before it is left behind (INB-10).
const BOUND: Duration = Duration::from_secs(5);

/// A message whose work had succeeded before, and which was skipped.
#[derive(Debug)]
#[non_exhaustive]
pub struct DuplicateDetected<'a> {
    /// The endpoint that skipped it.
    pub endpoint: &'a EndpointId,
    /// Identity and routing; never the payload.
    pub headers: &'a Headers,
    /// When the work was first recorded.
    pub first_recorded: Timestamp,
}

/// Hears of what happens to messages.
///
/// An observer that fails, panics or takes longer than five seconds is warned about and changes
/// nothing (INB-10).
#[async_trait]
pub trait LifecycleObserver: Send + Sync + 'static {
    /// A duplicate was detected; its handler does not run.
    ///
    /// # Errors
    ///
    /// Any; it is logged.
    async fn on_duplicate_detected(
        &self,
        event: &DuplicateDetected<'_>,
    ) -> Result<(), Box<dyn StdError + Send + Sync>>;
}

/// Calls every observer, best effort.
#[derive(Clone, Default)]
pub(crate) struct Lifecycle {
    observers: Vec<Arc<dyn LifecycleObserver>>,
}

impl Lifecycle {
    pub(crate) fn add(&mut self, observer: Arc<dyn LifecycleObserver>) {
        self.observers.push(observer);
    }

    pub(crate) async fn duplicate_detected(&self, event: &DuplicateDetected<'_>) {
        for observer in &self.observers {
            // In the block, so that a panic before the observer's future exists is caught as well.
            let call = async { observer.on_duplicate_detected(event).await };
            let call = AssertUnwindSafe(call).catch_unwind();
            let problem = match tokio::time::timeout(BOUND, call).await {
                Ok(Ok(Ok(()))) => continue,
                Ok(Ok(Err(error))) => error.to_string(),
                Ok(Err(_)) => "it panicked".to_owned(),
                Err(_) => format!("it took longer than {BOUND:?}"),
            };
            tracing::warn!(
                endpoint = %event.endpoint,
                problem,
                "an observer of duplicates failed; the message goes on without it"
            );
        }
    }
}

impl std::fmt::Debug for Lifecycle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Lifecycle")
            .field("observers", &self.observers.len())
            .finish()
    }
}
