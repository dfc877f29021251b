//! Which report moves an event from which state: the table of the README, in code.

use EventState as State;
use ReportKind as Kind;

use crate::{Cause, EventState, ReportKind};

/// A report as far as it decides on a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Move {
    pub(crate) kind: ReportKind,
    pub(crate) cause: Cause,
    /// Whether what it tells of began after the event came to its present state.
    pub(crate) newer: bool,
    /// Whether it is about a message of which an attempt was reported before that did not succeed.
    pub(crate) attempted: bool,
}

/// The state that a report leads to; `None` when it changes nothing.
pub(crate) fn next(current: Option<EventState>, report: Move) -> Option<EventState> {
    match current {
        None => first(report),
        Some(State::Completed) => from_completed(report),
        Some(State::Skipped | State::Discarded) => from_given_up(report),
        Some(State::Duplicate) => from_duplicate(report),
        Some(open) => from_open(open, report),
    }
}

fn first(report: Move) -> Option<EventState> {
    match report.kind {
        Kind::Noted => None,
        Kind::Refused => Some(State::DeadLettered),
        Kind::Duplicate if proves_success(report.cause) => Some(State::Completed),
        kind => kind.own_state(),
    }
}

/// The inbox knows the id of a retry or a resubmission only from the success of that very event.
/// The id of a message may have been used by another event before.
fn proves_success(cause: Cause) -> bool {
    matches!(cause, Cause::Retry | Cause::Resubmission)
}

fn from_open(current: EventState, report: Move) -> Option<EventState> {
    let waits = matches!(
        current,
        State::Deferred | State::RetryScheduled | State::PendingHandoff
    );
    let deferred = current == State::Deferred;
    let resubmission = report.cause == Cause::Resubmission;
    let stays = match report.kind {
        Kind::Noted | Kind::Refused | Kind::Requested => true,
        // A resubmission ends no other wait unless it succeeds: the parked copy, the retry or the
        // job still comes.
        Kind::Resubmitted => waits,
        Kind::Failed | Kind::DeadLettered | Kind::Unsupported => resubmission && waits,
        // One that lost its lock reports before it finds out that it can't park.
        Kind::Deferred if matches!(current, State::DeadLettered | State::Unsupported) => {
            !report.newer
        }
        Kind::Deferred => !matches!(current, State::Pending | State::Deferred),
        // A command settles the event that blocks, never one that is parked.
        Kind::Skipped => deferred,
        Kind::Completed => {
            deferred && report.cause == Cause::Command || is_late_answer(current, report)
        }
        Kind::Discarded => deferred && resubmission,
        Kind::Duplicate if proves_success(report.cause) => return Some(State::Completed),
        // Where another message of the event was done before, the failure of this one stands. What
        // was attempted was not on record then: it has succeeded since, and a crash lost the report.
        Kind::Duplicate => {
            !matches!(current, State::Pending | State::Deferred) && !report.attempted
        }
        Kind::RetryScheduled | Kind::PendingHandoff => false,
    };
    if stays {
        return None;
    }
    report.kind.own_state()
}

/// A late retry is answered with a resolution although nothing ran (SUB-11). What was set aside
/// meanwhile stays so, unless that very retry ran before or while it was.
fn is_late_answer(current: EventState, report: Move) -> bool {
    let set_aside = matches!(current, State::DeadLettered | State::Unsupported);
    set_aside && report.cause == Cause::Retry && report.newer && !report.attempted
}

fn from_completed(report: Move) -> Option<EventState> {
    match report.kind {
        Kind::Resubmitted => Some(State::Pending),
        Kind::Failed
        | Kind::RetryScheduled
        | Kind::DeadLettered
        | Kind::Unsupported
        | Kind::PendingHandoff
            if report.newer =>
        {
            report.kind.own_state()
        }
        _ => None,
    }
}

/// A late retry or a late command is answered with a resolution although nothing ran (SUB-11,
/// SUB-15): only an attempt that began afterwards undoes an operator's decision.
fn from_given_up(report: Move) -> Option<EventState> {
    match report.kind {
        Kind::Resubmitted => Some(State::Pending),
        Kind::Completed
            if report.newer && matches!(report.cause, Cause::Event | Cause::Resubmission) =>
        {
            Some(State::Completed)
        }
        Kind::Failed
        | Kind::RetryScheduled
        | Kind::DeadLettered
        | Kind::Unsupported
        | Kind::PendingHandoff
        | Kind::Deferred
            if report.newer =>
        {
            report.kind.own_state()
        }
        _ => None,
    }
}

/// All that was heard of the event is that its message id was on record.
fn from_duplicate(report: Move) -> Option<EventState> {
    match report.kind {
        Kind::Resubmitted => Some(State::Pending),
        Kind::Completed => Some(State::Completed),
        Kind::Duplicate if proves_success(report.cause) => Some(State::Completed),
        Kind::Skipped => Some(State::Skipped),
        Kind::Failed
        | Kind::RetryScheduled
        | Kind::DeadLettered
        | Kind::Unsupported
        | Kind::PendingHandoff
        | Kind::Deferred
        | Kind::Discarded
            if report.newer =>
        {
            report.kind.own_state()
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
