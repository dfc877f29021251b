//! Signals to the application (SUB-23, INB-09, INB-10).

mod events;
mod observer;
mod signal;
mod watched;

use std::sync::Arc;

pub use events::{
    BlockCause, DuplicateDetected, MessageCompleted, MessageDeadLettered, MessageFailed,
    MessageReceived, SessionBlocked,
};
pub use observer::{LifecycleObserver, ObserverError};

pub(crate) use signal::Signal;

use watched::Watched;

/// The observers of a subscriber.
#[derive(Debug, Clone, Default)]
pub(crate) struct Lifecycle {
    observers: Vec<Arc<Watched>>,
}

impl Lifecycle {
    pub(crate) fn add(&mut self, observer: impl LifecycleObserver) {
        self.observers.push(Arc::new(Watched::new(observer)));
    }

    /// Tells every observer in turn, best effort. Without observers it does nothing.
    pub(crate) async fn tell(&self, signal: Signal<'_>) {
        for observer in &self.observers {
            observer.tell(&signal).await;
        }
    }
}
