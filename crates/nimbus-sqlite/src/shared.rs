//! What all clones of a handle share: the queues and the threads that serve them.

use std::convert::Infallible;
use std::path::Path;
use std::sync::{Arc, mpsc};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::{ErrorKind, SqliteError};
use crate::gate::WriteGate;
use crate::open::{self, Access};
use crate::options::OpenOptions;
use crate::queue::JobQueue;
use crate::readers::{self, ReadJob};
use crate::site::Site;
use crate::stats::Counters;
use crate::transaction::{self, Begin};
use crate::worker::Workers;
use crate::writer::{Job, Writer};

/// Two let a short read pass a long one.
const READERS: usize = 2;

/// Never sent: a thread that holds the sender has a connection beside the
/// writer's.
type Companion = Infallible;

pub(crate) struct Shared {
    pub(crate) site: Arc<Site>,
    pub(crate) options: OpenOptions,
    pub(crate) writes: Arc<JobQueue<Job>>,
    pub(crate) reads: Arc<JobQueue<ReadJob>>,
    pub(crate) begins: Arc<JobQueue<Begin>>,
    pub(crate) gate: WriteGate,
    pub(crate) counters: Arc<Counters>,
    pub(crate) workers: Workers,
}

impl Shared {
    /// Opens all connections. When one can't be, none is left open: the caller
    /// may move or mend the file.
    pub(crate) async fn open(path: Arc<Path>, options: OpenOptions) -> Result<Self, SqliteError> {
        let shared = Self::new(path, options);
        let started = shared.start().await;
        if started.is_err() {
            shared.close();
            shared.workers.ended().await;
        }
        started.map(|()| shared)
    }

    fn new(path: Arc<Path>, options: OpenOptions) -> Self {
        Self {
            site: Arc::new(Site::new(path)),
            options,
            writes: Arc::new(JobQueue::new()),
            reads: Arc::new(JobQueue::new()),
            begins: Arc::new(JobQueue::new()),
            gate: WriteGate::default(),
            counters: Arc::default(),
            workers: Workers::new(),
        }
    }

    async fn start(&self) -> Result<(), SqliteError> {
        let (companion, companions) = mpsc::channel();
        // First, since it makes the file and finds out whose it is.
        self.start_writer(companions).await?;
        for _ in 0..READERS {
            self.start_reader(companion.clone()).await?;
        }
        self.start_transactions(companion)
    }

    async fn start_writer(&self, companions: mpsc::Receiver<Companion>) -> Result<(), SqliteError> {
        let (site, options) = (Arc::clone(&self.site), self.options.clone());
        let (jobs, gate, counters) = (
            Arc::clone(&self.writes),
            self.gate.clone(),
            Arc::clone(&self.counters),
        );
        let open = {
            let (site, options) = (Arc::clone(&site), options.clone());
            move || open::create(&site, &options)
        };
        let busy_timeout = options.busy_timeout;
        self.start_with_connection("nimbus-sq-write", open, move |connection| {
            let writer = Writer {
                connection,
                jobs,
                gate,
                site,
                counters,
                busy_timeout,
            };
            writer.serve();
            // The last connection to be closed folds the log into the file. Of
            // two that are closed at once, each may leave that to the other.
            companions.iter().for_each(drop);
        })
        .await
    }

    async fn start_reader(&self, companion: mpsc::Sender<Companion>) -> Result<(), SqliteError> {
        let (site, options, jobs) = (
            Arc::clone(&self.site),
            self.options.clone(),
            Arc::clone(&self.reads),
        );
        let open = {
            let site = Arc::clone(&site);
            move || open::another(&site, &options, Access::Read)
        };
        self.start_with_connection("nimbus-sq-read", open, move |connection| {
            readers::serve(connection, &site, &jobs);
            drop(companion);
        })
        .await
    }

    /// Its connection is opened by the first transaction.
    fn start_transactions(&self, companion: mpsc::Sender<Companion>) -> Result<(), SqliteError> {
        let (site, options, begins) = (
            Arc::clone(&self.site),
            self.options.clone(),
            Arc::clone(&self.begins),
        );
        self.workers.spawn(&self.site, "nimbus-sq-tx", move || {
            transaction::serve(&begins, &site, &options);
            drop(companion);
        })
    }

    /// Returns once the thread has its connection.
    async fn start_with_connection(
        &self,
        name: &str,
        open: impl FnOnce() -> Result<Connection, SqliteError> + Send + 'static,
        serve: impl FnOnce(Connection) + Send + 'static,
    ) -> Result<(), SqliteError> {
        let (ready, opened) = oneshot::channel();
        self.workers.spawn(&self.site, name, move || match open() {
            Ok(connection) => {
                let _ = ready.send(Ok(()));
                serve(connection);
            }
            Err(error) => {
                let _ = ready.send(Err(error));
            }
        })?;
        opened
            .await
            .unwrap_or_else(|_| Err(self.site.fault(ErrorKind::Closed, "opening")))
    }

    /// Takes no more jobs. The threads end once they have done those they have.
    pub(crate) fn close(&self) {
        self.writes.close();
        self.reads.close();
        self.begins.close();
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.close();
    }
}
