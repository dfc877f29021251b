//! Group commit.
//!
//! A commit costs a sync of the disk, however little it holds. While one is
//! under way others queue up, and the next commit takes them all together. A
//! write that is alone goes at once.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rusqlite::{Connection, Transaction};
use tokio::sync::oneshot;

use crate::classify;
use crate::error::{ErrorKind, SqliteError};
use crate::gate::{Turn, WriteGate};
use crate::lock::begin_immediate;
use crate::queue::JobQueue;
use crate::site::Site;
use crate::stats::Counters;
use crate::step;

const OPERATION: &str = "writing";

/// Bounds how long the first of a group waits for the others.
const LARGEST_GROUP: usize = 512;

/// A write that waits for its turn.
pub(crate) type Job = Box<dyn WriteJob>;

pub(crate) trait WriteJob: Send {
    /// When it gives up waiting for the write lock.
    fn deadline(&self) -> Instant;

    /// Runs the closure and keeps its outcome; possibly once more, after the
    /// group it was in was rolled back.
    fn run(&mut self, tx: &Transaction<'_>, site: &Site);

    fn has_failed(&self) -> bool;

    /// Tells the caller its own error, else `failure`, else what the closure
    /// returned.
    fn answer(self: Box<Self>, failure: Option<SqliteError>);
}

struct Write<T, F> {
    work: F,
    outcome: Option<Result<T, SqliteError>>,
    deadline: Instant,
    reply: oneshot::Sender<Result<T, SqliteError>>,
}

/// Packs `work` with the way to its caller.
pub(crate) fn job<T, F>(
    work: F,
    patience: Duration,
) -> (Job, oneshot::Receiver<Result<T, SqliteError>>)
where
    F: FnMut(&Transaction<'_>) -> rusqlite::Result<T> + Send + 'static,
    T: Send + 'static,
{
    let (reply, answer) = oneshot::channel();
    (
        Box::new(Write {
            work,
            outcome: None,
            deadline: Instant::now() + patience,
            reply,
        }),
        answer,
    )
}

impl<T, F> WriteJob for Write<T, F>
where
    F: FnMut(&Transaction<'_>) -> rusqlite::Result<T> + Send,
    T: Send,
{
    fn deadline(&self) -> Instant {
        self.deadline
    }

    fn run(&mut self, tx: &Transaction<'_>, site: &Site) {
        let earlier = self.outcome.take();
        drop_caught(earlier);
        self.outcome = Some(step::run(tx, site, OPERATION, &mut self.work));
    }

    fn has_failed(&self) -> bool {
        matches!(self.outcome, Some(Err(_)))
    }

    fn answer(self: Box<Self>, failure: Option<SqliteError>) {
        let answer = match (self.outcome, failure) {
            (Some(Err(own)), _) => Err(own),
            (_, Some(failure)) => Err(failure),
            (Some(Ok(value)), None) => Ok(value),
            // Never ran: the caller notices that nobody answers.
            (None, None) => return,
        };
        let _ = self.reply.send(answer);
    }
}

/// The body of the writer's thread.
pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) jobs: Arc<JobQueue<Job>>,
    pub(crate) gate: WriteGate,
    pub(crate) site: Arc<Site>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) busy_timeout: Duration,
}

impl Writer {
    pub(crate) fn serve(&self) {
        while let Some(first) = self.jobs.pop() {
            match self.begin(first.deadline()) {
                Ok(lock) => {
                    let mut group = vec![first];
                    self.jobs.top_up(&mut group, LARGEST_GROUP);
                    // Whatever unwinds here rolls back and is told to the group.
                    // Without this thread every later write would wait for ever.
                    let _ = catch_unwind(AssertUnwindSafe(|| self.settle(lock, group)));
                }
                Err(error) => answer(first, Some(error)),
            }
        }
    }

    fn begin(&self, deadline: Instant) -> Result<Lock<'_>, SqliteError> {
        let turn = self.gate.turn_before(deadline).ok_or_else(|| {
            self.site
                .fault(ErrorKind::Transient, OPERATION)
                .with_detail("a transaction of this process held the write lock all the time")
        })?;
        let tx = begin_immediate(&self.connection, deadline, || true)
            .map_err(|source| self.site.error(source, OPERATION, &self.connection))?;
        Ok(Lock { tx, _turn: turn })
    }

    /// Runs and commits `group` as one transaction, and answers everyone in it.
    fn settle(&self, lock: Lock<'_>, mut group: Vec<Job>) {
        match self.commit(lock, &mut group) {
            Fate::Committed => answer_all(group, None),
            Fate::Refused(error) if group.len() == 1 || error.outcome_unknown() => {
                answer_all(group, Some(&error));
            }
            Fate::Refused(error) => {
                tracing::debug!(%error, writes = group.len(), "a group of writes is committed one by one");
                self.settle_one_by_one(group);
            }
            Fate::RolledBack { culprit } => {
                answer(group.remove(culprit), None);
                self.settle_one_by_one(group);
            }
        }
    }

    /// The lock is given up on return, whatever the fate.
    fn commit(&self, lock: Lock<'_>, group: &mut [Job]) -> Fate {
        for (index, job) in group.iter_mut().enumerate() {
            job.run(&lock.tx, &self.site);
            if step::is_over(&lock.tx) {
                return Fate::RolledBack { culprit: index };
            }
        }
        let kept = group.iter().filter(|job| !job.has_failed()).count();
        if kept == 0 {
            return Fate::Committed;
        }
        match lock.tx.commit() {
            Ok(()) => {
                self.counters.committed(kept);
                Fate::Committed
            }
            Err(source) => {
                let stored_nothing = classify::commit_stored_nothing(&source);
                let error = self.site.error(source, "committing", &self.connection);
                Fate::Refused(if stored_nothing {
                    error
                } else {
                    error.with_unknown_outcome()
                })
            }
        }
    }

    /// A transaction each, so that nobody suffers from another's write.
    fn settle_one_by_one(&self, group: Vec<Job>) {
        for job in group {
            match self.begin(Instant::now() + self.busy_timeout) {
                Ok(lock) => self.settle(lock, vec![job]),
                Err(error) => answer(job, Some(error)),
            }
        }
    }
}

/// What became of a group.
enum Fate {
    /// All that didn't fail by itself is stored.
    Committed,
    /// The commit failed.
    Refused(SqliteError),
    /// One member's error made SQLite roll back everything.
    RolledBack { culprit: usize },
}

/// The write lock of the file.
struct Lock<'a> {
    tx: Transaction<'a>,
    /// Given up after `tx`: fields are dropped in their order.
    _turn: Turn,
}

fn answer_all(group: Vec<Job>, failure: Option<&SqliteError>) {
    for job in group {
        answer(job, failure.cloned());
    }
}

/// What a closure captured or returned may panic while it is dropped here. That
/// is its caller's loss alone.
fn drop_caught<T>(value: T) {
    let _ = catch_unwind(AssertUnwindSafe(|| drop(value)));
}

/// As [`drop_caught`], since nobody may be left to take the outcome.
fn answer(job: Job, failure: Option<SqliteError>) {
    let _ = catch_unwind(AssertUnwindSafe(|| job.answer(failure)));
}
