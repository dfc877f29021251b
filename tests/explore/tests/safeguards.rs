//! The exploration finds the absence of each safeguard.

use nimbus_explore::{Bounds, explore, scenario};
use nimbus_subscriber::Safeguard;

/// Turns a safeguard off, and explores until a rule is broken.
fn finds(safeguard: Safeguard, name: &str, depth: u8) {
    let scenario = scenario(name, depth).expect("the catalogue has it");
    let found = explore(&scenario, Bounds::default(), || {
        Safeguard::turn_off(Some(safeguard));
    });
    let counterexample = found.counterexample.unwrap_or_else(|| {
        panic!(
            "none of the {} schedules of {name}@{depth} shows that {safeguard:?} is off",
            found.schedules
        )
    });
    println!(
        "{safeguard:?}: {} schedules of {name}@{depth}: {}",
        found.schedules, counterexample.violation
    );
}

/// INB-06: a record before the handler.
#[test]
fn a_record_before_the_handler_is_found() {
    finds(Safeguard::RecordAfterHandler, "failures", 1);
}

/// INB-06: a settlement before the record.
#[test]
fn a_settlement_before_the_record_is_found() {
    finds(Safeguard::RecordBeforeSettlement, "failures", 1);
}

/// INB-14: a record that is dropped with its receiver.
#[test]
fn a_record_under_the_receivers_cancellation_is_found() {
    finds(Safeguard::TailOutlivesReceiver, "locks", 1);
}

/// INB-15: own id before source id, with a crash between.
#[test]
fn an_own_id_recorded_before_its_source_is_found() {
    finds(Safeguard::SourceRecordedFirst, "failures-apart", 3);
}

/// INB-08, SUB-11: the block before the inbox.
#[test]
fn a_block_that_counts_before_the_inbox_is_found() {
    finds(Safeguard::InboxBeforeBlock, "failures", 2);
}

/// SUB-11, SUB-16: no drain after a duplicate.
#[test]
fn a_duplicate_that_drains_nothing_is_found() {
    finds(Safeguard::DuplicateDrains, "failures", 2);
}

/// SUB-35: the state counts a copy that is not parked yet.
#[test]
fn a_state_written_before_its_copy_is_found() {
    finds(Safeguard::CopyBeforeState, "failures", 2);
}

/// SUB-36: no drain gate.
#[test]
fn a_missing_drain_gate_is_found() {
    finds(Safeguard::DrainGate, "arrivals", 2);
}

/// SUB-18: parked copies sent to the end of the queue.
#[test]
fn a_republishing_drain_is_found() {
    finds(Safeguard::DrainInPlace, "arrivals", 2);
}

/// SUB-16, SUB-18: a drain that goes on past a block.
#[test]
fn a_drain_into_a_blocked_session_is_found() {
    finds(Safeguard::DrainStopsAtBlock, "failures", 2);
}

/// SUB-10: the retry after the completion.
#[test]
fn a_retry_scheduled_after_completing_is_found() {
    finds(Safeguard::RetryBeforeCompletion, "failures", 3);
}

/// SUB-08: no fence.
#[test]
fn a_missing_fence_is_found() {
    finds(Safeguard::Fence, "locks", 3);
}

/// SUB-11: a retry that ignores the block's id.
#[test]
fn a_retry_that_ignores_the_block_id_is_found() {
    finds(Safeguard::RetryNamesItsBlock, "operators", 3);
}

/// SUB-17: a restore that its caller's cancellation stops.
#[test]
fn a_restore_under_the_callers_token_is_found() {
    finds(Safeguard::RestoreOutlivesCaller, "deferral", 1);
}
