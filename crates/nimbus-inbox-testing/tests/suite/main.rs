//! The suite itself: it passes a sound store, and each case catches the store it is there for.

mod flawed;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use flawed::{Flaw, Flawed};
use nimbus_inbox_core::{Error, Operation};
use nimbus_inbox_testing::{CaseResult, Conformance, InMemoryInbox, ManualClock, StoreConformance};

fn suite(flaw: Flaw) -> StoreConformance {
    StoreConformance::new("flawed", move |ns| async move {
        Ok(ns.shared(|| Flawed::new(flaw)))
    })
}

/// The reason why `case` fails.
fn failure(suite: StoreConformance, case: &str) -> String {
    let [outcome] = &Conformance::from(suite).only(case).outcomes()[..] else {
        panic!("not exactly one case is named {case}");
    };
    match &outcome.result {
        CaseResult::Failed(reason) => reason.clone(),
        other => panic!("{case}: {other:?}"),
    }
}

fn assert_catches(suite: StoreConformance, case: &str) {
    let reason = failure(suite, case);
    assert!(
        !reason.contains("hung"),
        "found by its time limit only: {reason}"
    );
}

#[test]
fn a_sound_store_passes() {
    let sound = suite(Flaw::None)
        .with_client_clock(|_, clock: ManualClock| async move {
            Ok(Flawed::with_clock(Flaw::None, clock))
        })
        .with_misconfigured(|_| async { misconfigured(Error::configuration) });
    for outcome in Conformance::from(sound).outcomes() {
        assert_eq!(outcome.result, CaseResult::Passed, "{}", outcome.name);
    }
}

fn misconfigured(error: fn(Operation, &'static str) -> Error) -> Result<InMemoryInbox, Error> {
    Err(error(Operation::Open, "no such file"))
}

/// INB-01
#[test]
fn catches_folded_case() {
    assert_catches(suite(Flaw::FoldsCase), "identity::ids_are_byte_exact");
}

/// INB-02
#[test]
fn catches_parts_joined_without_their_border() {
    assert_catches(
        suite(Flaw::JoinsThePartsBare),
        "identity::the_border_between_the_parts_is_exact",
    );
}

/// INB-03
#[test]
fn catches_truncated_ids() {
    assert_catches(
        suite(Flaw::TruncatesIds),
        "identity::the_longest_ids_are_kept_whole",
    );
}

/// INB-21
#[test]
fn catches_a_moved_creation_time() {
    assert_catches(
        suite(Flaw::MovesTheCreationTime),
        "recording::a_repeated_record_keeps_the_first_creation_time",
    );
}

/// INB-21
#[test]
fn catches_two_calls_that_both_say_now() {
    assert_catches(
        suite(Flaw::SaysNowTwice),
        "recording::of_64_concurrent_records_one_is_now",
    );
}

/// INB-24
#[test]
fn catches_answers_out_of_order() {
    assert_catches(
        suite(Flaw::SortsItsAnswers),
        "batches::answers_stand_in_the_order_of_the_keys",
    );
}

/// INB-24
#[test]
fn catches_a_missing_answer() {
    assert_catches(
        suite(Flaw::AnswersEachKeyOnce),
        "batches::a_key_twice_in_one_batch_is_recorded_by_its_first",
    );
}

/// INB-24
#[test]
fn catches_a_failing_empty_batch() {
    assert_catches(
        suite(Flaw::FailsOnAnEmptyBatch),
        "batches::an_empty_batch_answers_nothing",
    );
}

/// INB-25
#[test]
fn catches_half_a_batch() {
    assert_catches(
        suite(Flaw::TearsBatches),
        "cancellation::a_batch_dropped_at_any_await_is_whole_or_absent",
    );
}

/// INB-25
#[test]
fn catches_a_pool_that_a_few_dropped_calls_exhaust() {
    let leaking = suite(Flaw::LeaksPermits(8)).time_limit(Duration::from_secs(2));
    let reason = failure(leaking, "cancellation::dropped_calls_hold_up_no_others");
    assert!(reason.contains("hung"), "{reason}");
}

/// INB-25
#[test]
fn catches_a_pool_that_hundreds_of_dropped_calls_exhaust() {
    let leaking = suite(Flaw::LeaksPermits(200)).time_limit(Duration::from_secs(2));
    let case = "cancellation::a_good_call_follows_a_thousand_dropped_ones";
    let reason = failure(leaking, case);
    assert!(reason.contains("hung"), "{reason}");
}

/// INB-23
#[test]
fn catches_a_cutoff_that_is_not_strict() {
    assert_catches(
        suite(Flaw::PurgesTheCutoffItself),
        "purging::a_record_at_the_cutoff_stays",
    );
}

/// INB-23
#[test]
fn catches_an_endpoint_compared_without_its_trailing_space() {
    assert_catches(
        suite(Flaw::PurgesTrimmedEndpoints),
        "purging::only_one_endpoint_is_purged",
    );
}

/// INB-22, INB-23
#[test]
fn catches_a_purge_of_every_endpoint() {
    assert_catches(
        suite(Flaw::PurgesEveryEndpoint),
        "purging::only_one_endpoint_is_purged",
    );
}

/// INB-23
#[test]
fn catches_a_purge_that_begins_with_the_newest() {
    assert_catches(
        suite(Flaw::PurgesTheNewestFirst),
        "purging::the_oldest_go_first_within_the_limit",
    );
}

/// INB-23
#[test]
fn catches_a_purge_without_a_bound() {
    assert_catches(
        suite(Flaw::IgnoresTheLimit),
        "purging::more_records_than_one_call_removes_go_in_several",
    );
}

/// INB-23
#[test]
fn catches_a_purge_of_a_recreated_record() {
    assert_catches(
        suite(Flaw::PurgesByKeyAlone),
        "purge_races::a_record_recreated_at_any_await_of_a_purge_survives",
    );
}

/// INB-23
#[test]
fn catches_an_age_that_overflows() {
    assert_catches(
        suite(Flaw::OverflowsOnLongAges),
        "purging::cutoffs_beyond_all_records_remove_nothing",
    );
}

/// INB-23
#[test]
fn catches_a_cutoff_by_another_clock_than_the_stamps() {
    let mixed = || {
        suite(Flaw::None).with_client_clock(|_, clock: ManualClock| async move {
            Ok(Flawed::with_clock(Flaw::CutsByAnotherClock, clock))
        })
    };
    assert_catches(
        mixed(),
        "client_clock::a_clock_an_hour_off_shortens_no_retention",
    );
    assert_catches(
        mixed(),
        "client_clock::a_clock_an_hour_off_lengthens_no_retention",
    );
}

/// INB-27
#[test]
fn catches_a_race_to_create_the_table() {
    assert_catches(
        suite(Flaw::CreatesTwice),
        "opening::sixteen_stores_have_their_first_use_at_once",
    );
}

/// INB-32
#[test]
fn catches_a_verification_that_wipes() {
    assert_catches(
        suite(Flaw::WipesWhenVerified),
        "opening::verifying_again_changes_nothing",
    );
}

/// INB-26
#[test]
fn catches_a_misconfiguration_taken_for_a_transient_fault() {
    const CASE: &str = "misconfiguration::every_call_answers_a_configuration_error";
    let at_a_call =
        suite(Flaw::None).with_misconfigured(|_| async { Ok(Flawed::new(Flaw::FailsTransiently)) });
    assert_catches(at_a_call, CASE);
    let at_opening =
        suite(Flaw::None).with_misconfigured(|_| async { misconfigured(Error::transient) });
    assert_catches(at_opening, CASE);
    let not_at_all =
        suite(Flaw::None).with_misconfigured(|_| async { Ok(Flawed::new(Flaw::None)) });
    assert_catches(not_at_all, CASE);
}

/// INB-21
#[test]
fn catches_records_that_go_with_the_last_handle() {
    let forgetful = StoreConformance::new("flawed", |ns| async move {
        let last = ns.shared(|| Arc::new(Mutex::new(Weak::new())));
        let mut last = last.lock().unwrap();
        let store = last.upgrade().unwrap_or_else(|| {
            let store = Arc::new(Flawed::new(Flaw::None).claiming_durability());
            *last = Arc::downgrade(&store);
            store
        });
        Ok(store)
    });
    assert_catches(forgetful, "durability::records_survive_the_last_handle");
}

#[test]
fn a_store_that_hangs_ends_its_case_by_name() {
    for flaw in [Flaw::Hangs, Flaw::BlocksItsThread] {
        let stuck = suite(flaw).time_limit(Duration::from_millis(50));
        let case = "opening::sixteen_stores_have_their_first_use_at_once";
        let reason = failure(stuck, case);
        assert!(
            reason.starts_with(&format!("flawed::{case} hung")),
            "{reason}"
        );
    }
}

#[test]
fn an_unavailable_suite_is_ignored_with_its_reason_and_opens_nothing() {
    let opened = Arc::new(AtomicBool::new(false));
    let suite = StoreConformance::new("postgres", {
        let opened = Arc::clone(&opened);
        move |_| {
            opened.store(true, Ordering::SeqCst);
            async { Ok(InMemoryInbox::new()) }
        }
    })
    .unavailable("postgres: no server on port 5432");
    let outcomes = Conformance::from(suite).outcomes();
    assert!(!opened.load(Ordering::SeqCst));
    assert!(outcomes.len() > 30);
    let expected = CaseResult::Ignored("postgres: no server on port 5432".to_owned());
    assert!(outcomes.iter().all(|outcome| outcome.result == expected));
}

#[test]
fn a_factory_that_fails_fails_every_case_with_its_reason() {
    let suite = StoreConformance::new("broken", |_| async { misconfigured(Error::configuration) });
    let outcomes = Conformance::from(suite).outcomes();
    for outcome in outcomes {
        let CaseResult::Failed(reason) = outcome.result else {
            panic!("{} did not fail", outcome.name);
        };
        assert!(reason.contains("no such file"), "{reason}");
    }
}
