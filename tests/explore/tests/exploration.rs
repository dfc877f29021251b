//! Every schedule of small worlds, to a depth: no rule is broken in any.

use nimbus_explore::{Bounds, Findings, Window, catalogue, explore, scenario, wander};

/// Runs every schedule with so many disturbances; there are at least as many as `at_least`.
fn exhaust(name: &str, depth: u8, at_least: u64) -> Findings {
    let scenario = scenario(name, depth).expect("the catalogue has it");
    let found = explore(&scenario, Bounds::default(), || ());
    if let Some(counterexample) = &found.counterexample {
        panic!("{counterexample}");
    }
    println!(
        "{name}@{depth}: {} schedules\n{}",
        found.schedules, found.windows
    );
    assert!(found.exhausted);
    assert!(
        found.schedules >= at_least,
        "{name} has {} schedules only",
        found.schedules
    );
    found
}

/// SUB-08, SUB-10, SUB-11, SUB-14, SUB-21, SUB-36, SUB-37, INB-40: whatever crashes and however
/// handlers end, nothing is lost, reordered or repeated outside of the documented windows.
#[test]
fn crashes_and_failures_lose_and_reorder_nothing() {
    let found = exhaust("failures", 4, 50_000);
    assert!(found.windows.of(Window::EffectNotRecorded) > 0);
    assert_eq!(found.windows.of(Window::RecordsApart), 0);
}

/// INB-15, SUB-35, INB-40: the same where copy and state, and source and own id, are written one
/// after the other.
#[test]
fn crashes_between_two_writes_lose_and_reorder_nothing() {
    let found = exhaust("failures-apart", 3, 5_000);
    assert!(found.windows.of(Window::RecordsApart) > 0);
}

/// INB-41, SUB-39: an effect that is committed together with its record is never repeated, also by
/// two receivers at a time.
#[test]
fn transactions_leave_no_window() {
    for (name, at_least) in [("transaction", 3_500), ("locks-transaction", 3_000)] {
        let found = exhaust(name, 3, at_least);
        assert_eq!(found.windows.of(Window::EffectNotRecorded), 0);
        assert_eq!(found.windows.of(Window::Concurrent), 0);
        assert_eq!(found.windows.of(Window::RecordsApart), 0);
    }
}

/// SUB-16, SUB-19, SUB-36, SUB-37: what arrives while others are parked or drained keeps its place.
#[test]
fn late_and_repeated_messages_keep_their_place() {
    exhaust("arrivals", 3, 20_000);
}

/// SUB-12, SUB-13, SUB-14, SUB-15: operators may ask for anything at any time.
#[test]
fn commands_at_any_time_lose_nothing() {
    exhaust("operators", 3, 40_000);
}

/// SUB-08, INB-14: a receiver that goes on after its lock has run out does no harm.
#[test]
fn stale_receivers_do_no_harm() {
    let found = exhaust("locks", 4, 45_000);
    assert!(found.windows.of(Window::Concurrent) > 0);
    exhaust("locks-apart", 4, 55_000);
}

/// SUB-08, SUB-29: so with two processes that receive.
#[test]
fn two_receivers_take_over_from_each_other() {
    exhaust("receivers", 3, 10_000);
}

/// SUB-17: a popped reference of the older deferral is neither lost nor doubled.
#[test]
fn continuations_lose_no_reference() {
    exhaust("deferral", 3, 60_000);
}

/// SUB-09, SUB-21: an event without a handler blocks nothing, one that comes back is handled like
/// any other, and a heartbeat is answered whatever blocks, and neither looked for nor recorded.
#[test]
fn messages_without_a_handler_block_nothing() {
    exhaust("kinds", 3, 70_000);
}

/// SUB-29: two sessions that one process works on at a time don't disturb each other.
#[test]
fn sessions_do_not_disturb_each_other() {
    exhaust("sessions", 3, 40_000);
}

/// INB-03, INB-29, SUB-05: without usable ids or without an inbox repeats are possible, and nothing
/// is lost or reordered.
#[test]
fn without_an_inbox_nothing_is_lost() {
    exhaust("anonymous", 3, 4_000);
    exhaust("no-inbox", 3, 4_000);
}

/// SUB-36, SUB-37, INB-40: random schedules with any number of disturbances break no rule.
#[test]
fn random_schedules_break_no_rule() {
    for scenario in catalogue(u8::MAX) {
        let bounds = Bounds {
            schedules: 1_000,
            ..Bounds::default()
        };
        let found = wander(&scenario, 11, bounds);
        if let Some(counterexample) = &found.counterexample {
            panic!("{counterexample}");
        }
        assert_eq!(found.schedules, 1_000, "of {}", scenario.name);
    }
}
