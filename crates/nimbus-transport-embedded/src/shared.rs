//! What every part of one open queue file uses.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nimbus_inbox_core::{Clock, Timestamp};
use nimbus_messaging::{SettlementTasks, TransportError};
use nimbus_sqlite::Database;
use nimbus_sqlite::rusqlite::{self, Transaction};
use tokio::sync::watch;

use crate::address::QueueId;
use crate::error;
use crate::options::EmbeddedOptions;

#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) db: Database,
    pub(crate) options: EmbeddedOptions,
    pub(crate) settlements: SettlementTasks,
    signals: Signals,
}

impl Shared {
    pub(crate) fn new(db: Database, options: EmbeddedOptions) -> Self {
        Self {
            db,
            // A settlement that takes longer than the lock finds it gone.
            settlements: SettlementTasks::new(options.lock_duration),
            options,
            signals: Signals::default(),
        }
    }

    pub(crate) fn clock(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.options.clock)
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.options.clock.now()
    }

    /// A write that shares its commit with others; `work` gets the instant at which it runs.
    pub(crate) async fn write<T, F>(
        &self,
        what: impl fmt::Display + Send,
        mut work: F,
    ) -> Result<T, TransportError>
    where
        F: FnMut(&Transaction<'_>, Timestamp) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        let clock = self.clock();
        self.db
            .write(move |tx| work(tx, clock.now()))
            .await
            .map_err(|error| error::failed(what, error))
    }

    pub(crate) async fn read<T, F>(
        &self,
        what: impl fmt::Display + Send,
        work: F,
    ) -> Result<T, TransportError>
    where
        F: FnOnce(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
        T: Send + 'static,
    {
        self.db
            .read(work)
            .await
            .map_err(|error| error::failed(what, error))
    }

    /// Wakes whoever waits for the queue in this process.
    pub(crate) fn changed(&self, queue: QueueId) {
        self.signals.of(queue).send_modify(|count| {
            *count = count.wrapping_add(1);
        });
    }

    pub(crate) fn watch(&self, queue: QueueId) -> watch::Receiver<u64> {
        self.signals.of(queue).subscribe()
    }

    /// Waits until the queue changes in this process, `until` comes, or it is time to look for
    /// what other processes did.
    ///
    /// Never sleeps longer than the poll interval: the wall clock may jump.
    pub(crate) async fn pause(&self, changes: &mut watch::Receiver<u64>, until: Option<i64>) {
        let longest = self.options.poll_interval;
        let pause = until.map_or(longest, |until| {
            let left = Timestamp::from_unix_ticks(until).saturating_duration_since(self.now());
            left.max(SHORTEST_PAUSE).min(longest)
        });
        tokio::select! {
            // The sender lives as long as this.
            _ = changes.changed() => {}
            () = tokio::time::sleep(pause) => {}
        }
    }
}

/// Keeps a clock that was set back from making a waiter spin.
const SHORTEST_PAUSE: Duration = Duration::from_millis(1);

/// Counts the changes of each queue.
#[derive(Debug, Default)]
struct Signals(Mutex<HashMap<QueueId, watch::Sender<u64>>>);

impl Signals {
    fn of(&self, queue: QueueId) -> watch::Sender<u64> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .entry(queue)
            .or_default()
            .clone()
    }
}
