//! Switches that turn one safeguard of the processing off, so that the crash-point exploration can
//! show that it would notice. They exist only with the feature `safeguards`.

use std::cell::Cell;

/// A safeguard against loss, repetition or reordering, with the requirement that asks for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Safeguard {
    /// INB-06: a success is recorded after the handler, not before.
    RecordAfterHandler,
    /// INB-06: a message is settled after the record, not before.
    RecordBeforeSettlement,
    /// INB-14: what follows a handler does not listen to the receiver's cancellation.
    TailOutlivesReceiver,
    /// INB-15: the source id is recorded before the stand-in's own.
    SourceRecordedFirst,
    /// INB-08, SUB-11: the inbox is asked before the session's block counts.
    InboxBeforeBlock,
    /// SUB-11, SUB-19: a duplicate that finds the session free has it drained.
    DuplicateDrains,
    /// SUB-35: a copy is parked before the state counts it.
    CopyBeforeState,
    /// SUB-36: a fresh delivery waits behind the parked ones.
    DrainGate,
    /// SUB-18: parked copies are handled in place, not sent to the queue's end.
    DrainInPlace,
    /// SUB-16, SUB-18: nothing drains a blocked session.
    DrainStopsAtBlock,
    /// SUB-10: a retry is scheduled before the failed message is completed.
    RetryBeforeCompletion,
    /// SUB-08: the first access after accepting a lane raises the state's version.
    Fence,
    /// SUB-11: a retry acts on the block that it was scheduled for, and on no other.
    RetryNamesItsBlock,
    /// SUB-17: a popped reference is put back also when the caller is cancelled.
    RestoreOutlivesCaller,
}

thread_local! {
    static OFF: Cell<Option<Safeguard>> = const { Cell::new(None) };
}

impl Safeguard {
    /// All of them.
    pub const ALL: [Self; 14] = [
        Self::RecordAfterHandler,
        Self::RecordBeforeSettlement,
        Self::TailOutlivesReceiver,
        Self::SourceRecordedFirst,
        Self::InboxBeforeBlock,
        Self::DuplicateDrains,
        Self::CopyBeforeState,
        Self::DrainGate,
        Self::DrainInPlace,
        Self::DrainStopsAtBlock,
        Self::RetryBeforeCompletion,
        Self::Fence,
        Self::RetryNamesItsBlock,
        Self::RestoreOutlivesCaller,
    ];

    /// Turns one safeguard off for what runs on this thread; `None` turns all of them on.
    pub fn turn_off(safeguard: Option<Self>) {
        OFF.set(safeguard);
    }

    pub(crate) fn holds(self) -> bool {
        OFF.get() != Some(self)
    }
}
