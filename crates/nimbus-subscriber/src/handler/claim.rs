//! What became of the record in a handler's own transaction (SUB-39).

use std::sync::{Mutex, MutexGuard, PoisonError};

use nimbus_inbox_core::{DuplicateWhen, Error, Operation};

/// How the claim of a delivery is made.
#[derive(Debug, Clone)]
pub(crate) struct Claiming {
    /// Which record makes it a duplicate (INB-18).
    pub(crate) duplicate: DuplicateWhen,
    /// The source id of the block that a resubmission resolves (INB-17).
    pub(crate) resolves: Option<String>,
    /// Whether an unusable id was warned of already.
    pub(crate) admitted: bool,
}

/// What the transaction of a handler that has ended decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Claimed {
    /// There was none, or it was rolled back.
    Nothing,
    /// As [`Nothing`](Self::Nothing), because the store failed.
    StoreFailed,
    /// As [`Nothing`](Self::Nothing), since it was cut off before the work began, where it may have
    /// waited for another delivery of the same message.
    GivenUp,
    /// The effects are committed, with the record.
    Recorded,
    /// The effects are committed, without a record: the work goes on outside.
    HandedOff,
    /// The work was on record before.
    Duplicate,
    /// Whether the effects are committed is not known.
    InDoubt,
}

/// Where the one transaction that a run of a handler may commit stands.
#[derive(Debug, Default)]
pub(super) struct Progress(Mutex<Stage>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The claim is made, or waited for.
    Claiming,
    /// The work runs.
    Working,
    Committing,
    Ended(Claimed),
    /// The handler has returned.
    Closed,
}

impl Default for Stage {
    fn default() -> Self {
        Self::Ended(Claimed::Nothing)
    }
}

impl Progress {
    /// Begins a transaction, unless one is under way or has decided.
    pub(super) fn begin(&self) -> Result<Transaction<'_>, Error> {
        let mut stage = self.stage();
        let refusal = match *stage {
            // After a rollback the handler may try once more.
            Stage::Ended(Claimed::Nothing | Claimed::StoreFailed | Claimed::GivenUp) => {
                *stage = Stage::Claiming;
                return Ok(Transaction(self));
            }
            Stage::Ended(Claimed::InDoubt) => {
                return Err(Error::transient(
                    Operation::Transaction,
                    "whether the handler's transaction was committed is not known; the message is \
                     left for redelivery, which finds out",
                ));
            }
            Stage::Ended(_) => {
                "the handler called process_in again after the message was recorded; nothing of \
                 the second call was run: do all of the work in one call"
            }
            Stage::Claiming | Stage::Working | Stage::Committing => {
                "the handler called process_in while a call of it runs; nothing of the second \
                 was run: do all of the work in one call"
            }
            Stage::Closed => {
                "process_in was called after the handler had returned; nothing was run: await it \
                 in the handler"
            }
        };
        Err(Error::configuration(Operation::Transaction, refusal))
    }

    /// Whether something stands already, or may.
    pub(super) fn has_decided(&self) -> bool {
        !matches!(
            *self.stage(),
            Stage::Claiming
                | Stage::Working
                | Stage::Ended(Claimed::Nothing | Claimed::StoreFailed | Claimed::GivenUp)
        )
    }

    /// The handler has ended: what stands, and nothing begins any more.
    ///
    /// A transaction that still runs, in a task that the handler left behind, may yet commit.
    pub(super) fn close(&self) -> Claimed {
        match std::mem::replace(&mut *self.stage(), Stage::Closed) {
            Stage::Ended(claimed) => claimed,
            Stage::Claiming | Stage::Working | Stage::Committing => Claimed::InDoubt,
            Stage::Closed => Claimed::Nothing,
        }
    }

    fn stage(&self) -> MutexGuard<'_, Stage> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A transaction under way. Dropped before the commit it is rolled back, after that in doubt.
pub(super) struct Transaction<'p>(&'p Progress);

impl Transaction<'_> {
    /// The message is claimed, and the work begins.
    pub(super) fn working(&self) {
        self.enter(Stage::Working);
    }

    /// The work has returned success: from here on the effects may be committed.
    pub(super) fn committing(&self) {
        self.enter(Stage::Committing);
    }

    pub(super) fn end(self, claimed: Claimed) {
        self.enter(Stage::Ended(claimed));
    }

    /// The store failed: before the commit that is a rollback.
    pub(super) fn fail(self) {
        let claimed = match *self.0.stage() {
            Stage::Committing => Claimed::InDoubt,
            _ => Claimed::StoreFailed,
        };
        self.enter(Stage::Ended(claimed));
    }

    /// A handler that has returned is past telling.
    fn enter(&self, next: Stage) {
        let mut stage = self.0.stage();
        if *stage != Stage::Closed {
            *stage = next;
        }
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        let left = match *self.0.stage() {
            Stage::Claiming => Claimed::GivenUp,
            Stage::Working => Claimed::Nothing,
            Stage::Committing => Claimed::InDoubt,
            Stage::Ended(_) | Stage::Closed => return,
        };
        self.enter(Stage::Ended(left));
    }
}
