//! The transport suite itself: it passes a sound transport, and cases catch what they are there
//! for.

mod flawed;

use std::future::ready;
use std::time::Duration;

use flawed::{Flaw, Flawed};
use nimbus_inbox_testing::{
    BrokerFault, BrokerOperation, BrokerOptions, BrokerWhen, CaseOutcome, CaseResult, Conformance,
    DeadLettered, InMemoryBroker, ManualClock, TransportConformance, TransportUnderTest,
};
use nimbus_messaging::TransportError;

fn suite(flaw: Flaw) -> TransportConformance {
    TransportConformance::new("flawed", move |ns| async move {
        let clock = ns.shared(ManualClock::default);
        let broker = ns.shared(|| {
            let options = BrokerOptions::default().with_clock(clock.clone());
            let broker = InMemoryBroker::with_options(options);
            // So that a cut finds a send under way.
            let sends = BrokerWhen::on(BrokerOperation::Send);
            broker.inject(sends, BrokerFault::delay(Duration::from_millis(1)));
            broker
        });
        let inner = broker.connect();
        let (moved, read, limit) = (broker.clone(), broker.clone(), 10);
        Ok(TransportUnderTest::new(Flawed { inner, flaw })
            .with_clock(clock)
            .when_clock_moved(move || moved.clock_moved())
            .with_delivery_limit(limit)
            .with_dead_letters(move |endpoint| {
                let kept = read.dead_letters(endpoint.as_str()).into_iter();
                let read = kept.map(|kept| DeadLettered {
                    message_id: kept.envelope.message_id,
                    reason: kept.reason,
                    description: kept.description,
                });
                ready(Ok(read.collect()))
            })
            .with_cut(move || {
                broker.cut_connections();
                ready(())
            }))
    })
}

fn failures(suite: impl Into<Conformance>) -> Vec<(String, String)> {
    let failed = |outcome: CaseOutcome| match outcome.result {
        CaseResult::Failed(reason) => Some((outcome.name, reason)),
        CaseResult::Passed | CaseResult::Ignored(_) => None,
    };
    let outcomes = suite.into().outcomes();
    assert!(!outcomes.is_empty(), "there is no such case");
    outcomes.into_iter().filter_map(failed).collect()
}

fn assert_catches(flaw: Flaw, case: &str) {
    let suite = suite(flaw).time_limit(Duration::from_secs(5));
    let failures = failures(Conformance::from(suite).only(case));
    assert!(!failures.is_empty(), "{case} passed {flaw:?}");
}

#[test]
fn a_sound_transport_passes() {
    assert_eq!(failures(suite(Flaw::None)), []);
}

#[test]
fn catches_a_settlement_without_its_lock() {
    for case in [
        "locks::settling_after_the_lock_ran_out_is_never_success",
        "locks::settling_after_a_release_is_never_success",
        "locks::a_late_holder_does_not_disturb_its_successor",
    ] {
        assert_catches(Flaw::SettlesLate, case);
    }
}

#[test]
fn catches_a_delay_that_is_not_kept() {
    for case in [
        "redelivery::an_abandoned_delivery_holds_its_session_for_its_delay",
        "redelivery::a_delay_holds_its_session_for_other_receivers_too",
    ] {
        assert_catches(Flaw::IgnoresDelays, case);
    }
}

#[test]
fn catches_an_abandoned_message_that_loses_its_place() {
    assert_catches(
        Flaw::AbandonsToTheTail,
        "redelivery::an_abandoned_delivery_comes_again_before_what_follows",
    );
}

#[test]
fn catches_a_message_that_is_gone_before_it_is_settled() {
    for case in [
        "redelivery::a_dropped_receipt_settles_nothing",
        "redelivery::a_released_lane_gives_back_what_is_unsettled_in_order",
        "cancellation::a_receive_dropped_at_any_await_loses_nothing",
    ] {
        assert_catches(Flaw::CompletesOnReceiving, case);
    }
}

/// SUB-05
#[test]
fn catches_an_id_that_nobody_sent() {
    assert_catches(Flaw::MakesUpIds, "content::absent_fields_stay_absent");
}

#[test]
fn catches_properties_turned_into_text() {
    assert_catches(
        Flaw::KeepsTextOnly,
        "content::properties_keep_their_types_and_names",
    );
}

#[test]
fn catches_a_send_to_nobody_that_succeeds() {
    assert_catches(
        Flaw::SwallowsUnroutable,
        "sending::an_address_that_nothing_receives_from_is_unroutable",
    );
}

#[test]
fn catches_a_scheduled_message_that_comes_early() {
    for case in [
        "scheduling::a_scheduled_message_comes_when_it_is_due_and_not_before",
        "scheduling::scheduled_messages_come_in_the_order_of_their_due_times",
    ] {
        assert_catches(Flaw::IgnoresDueTimes, case);
    }
}

#[test]
fn catches_an_accept_that_does_not_stop() {
    let suite = suite(Flaw::IgnoresStops).time_limit(Duration::from_millis(200));
    let case = "stopping::a_stop_ends_a_pending_accept";
    let failures = failures(Conformance::from(suite).only(case));
    assert!(failures[0].1.contains("hung"), "{failures:?}");
}

#[test]
fn catches_sessions_told_apart_without_case() {
    for case in [
        "names::sessions_are_told_apart_byte_by_byte",
        "session_state::sessions_have_states_of_their_own",
    ] {
        assert_catches(Flaw::FoldsSessions, case);
    }
}

/// SUB-22
#[test]
fn catches_a_description_that_is_cut() {
    assert_catches(
        Flaw::CutsDescriptions,
        "settling::a_dead_letter_keeps_reason_and_description",
    );
}

#[test]
fn catches_a_deferral_that_is_not_kept() {
    assert_catches(
        Flaw::DefersForNow,
        "deferral::a_deferred_message_comes_only_by_its_number",
    );
}

#[test]
fn catches_deliveries_that_are_not_counted() {
    for case in [
        "redelivery::every_delivery_is_counted",
        "settling::a_message_that_is_abandoned_too_often_is_dead_lettered",
    ] {
        assert_catches(Flaw::CountsFromOne, case);
    }
}

#[test]
fn catches_a_send_that_is_confirmed_and_lost_with_the_connection() {
    assert_catches(
        Flaw::SwallowsCuts,
        "cutting::what_was_confirmed_while_connections_broke_arrives",
    );
}

/// SUB-07
#[test]
fn catches_members_that_are_forgotten() {
    assert_catches(
        Flaw::ForgetsUnknownMembers,
        "session_state::state_is_kept_with_the_members_nobody_knows",
    );
}

/// SUB-08
#[test]
fn catches_a_conflict_that_is_written_over() {
    for case in [
        "session_state::a_write_at_an_old_version_changes_nothing",
        "session_state::of_concurrent_writes_at_one_version_one_is_written",
        "session_state::a_late_holder_writes_nothing",
    ] {
        assert_catches(Flaw::WritesOverConflicts, case);
    }
}

/// SUB-18
#[test]
fn catches_the_removal_of_a_later_copy() {
    assert_catches(
        Flaw::UnparksByKeyAlone,
        "parking::unparking_an_old_generation_removes_nothing",
    );
}

/// SUB-35
#[test]
fn catches_a_copy_that_is_counted_before_it_is_there() {
    assert_catches(
        Flaw::CountsBeforeParking,
        "parking::parking_dropped_at_any_await_counts_no_copy_that_is_not_there",
    );
}

#[test]
fn an_unavailable_suite_is_ignored_with_its_reason_and_connects_nothing() {
    let suite = TransportConformance::new("rabbitmq", |_| async {
        Err::<TransportUnderTest, _>(TransportError::transient("connected all the same"))
    })
    .unavailable("rabbitmq: no server on port 5672");
    let outcomes = Conformance::from(suite).outcomes();
    assert!(outcomes.len() > 80);
    let expected = CaseResult::Ignored("rabbitmq: no server on port 5672".to_owned());
    assert!(outcomes.iter().all(|outcome| outcome.result == expected));
}
