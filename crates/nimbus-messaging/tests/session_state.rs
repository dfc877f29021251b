//! The state of a session as it is stored.

use nimbus_messaging::{EventId, SessionState};
use proptest::prelude::*;

/// SUB-07: the names are fixed.
#[test]
fn state_is_stored_under_the_peers_names() {
    let state = SessionState {
        blocked_by_event_id: Some(EventId::new("e-1")),
        blocked_by_message_id: Some("m-1".to_owned()),
        block_id: Some("b-1".to_owned()),
        deferred_count: 2,
        next_deferral_sequence: 7,
        deferred_sequence_numbers: vec![4, 5],
        in_flight_sequence_number: Some(3),
        ..SessionState::default()
    };
    let json: serde_json::Value = serde_json::from_str(&state.to_json()).expect("it is JSON");
    let expected = serde_json::json!({
        "BlockedByEventId": "e-1",
        "BlockedByMessageId": "m-1",
        "BlockId": "b-1",
        "DeferredCount": 2,
        "NextDeferralSequence": 7,
        "DeferredSequenceNumbers": [4, 5],
        "InFlightSequenceNumber": 3,
    });
    assert_eq!(json, expected);
}

/// SUB-07: unknown members survive a rewrite.
#[test]
fn unknown_members_survive_a_rewrite() {
    let stored = br#"{"DeferredCount":1,"Tomorrow":{"a":[1,null]},"NextDeferralSequence":1}"#;
    let mut state = SessionState::from_json(stored).expect("it reads");
    state.count_parked();
    let json: serde_json::Value = serde_json::from_str(&state.to_json()).expect("it is JSON");
    assert_eq!(json["Tomorrow"], serde_json::json!({"a": [1, null]}));
    assert_eq!(json["DeferredCount"], 2);
    assert_eq!(json["NextDeferralSequence"], 2);
}

/// SUB-07: state written by older versions and by the .NET peer reads: nothing stored, absent
/// members, nulls and empty texts.
#[test]
fn older_state_reads() {
    for stored in [&b""[..], b"null", b" \n", b"{}"] {
        assert_eq!(
            SessionState::from_json(stored).ok(),
            Some(SessionState::default())
        );
    }
    let stored = br#"{"BlockedByEventId":"","BlockedByMessageId":null,"DeferredCount":null,
        "DeferredSequenceNumbers":null,"InFlightSequenceNumber":null}"#;
    assert_eq!(
        SessionState::from_json(stored).ok(),
        Some(SessionState::default())
    );
    let older = SessionState::from_json(br#"{"BlockedByEventId":"E-1","DeferredCount":3}"#)
        .expect("it reads");
    assert!(older.is_blocked_by(Some(&EventId::new("e-1"))));
    assert!(SessionState::from_json(b"[]").is_err());
}

/// INB-17: unblocking forgets whose block it was, and nothing else.
#[test]
fn unblocking_forgets_the_whole_block() {
    let mut state = SessionState {
        blocked_by_event_id: Some(EventId::new("e-1")),
        blocked_by_message_id: Some("m-1".to_owned()),
        block_id: Some("b-1".to_owned()),
        blocked_by_handoff: true,
        deferred_count: 1,
        next_deferral_sequence: 4,
        ..SessionState::default()
    };
    state.unblock();
    let free = SessionState {
        deferred_count: 1,
        next_deferral_sequence: 4,
        ..SessionState::default()
    };
    assert_eq!(state, free);
    assert!(state.is_draining());
}

/// SUB-17: a reference is popped once, goes back to the front whole and once, and is forgotten when
/// its message is settled; one in flight is never popped over.
#[test]
fn a_deferred_reference_is_neither_lost_nor_doubled() {
    let mut state = SessionState {
        deferred_sequence_numbers: vec![3, 5],
        ..SessionState::default()
    };
    let before = state.clone();
    state.take_deferred();
    state.take_deferred();
    assert_eq!(state.in_flight_sequence_number, Some(3));
    assert_eq!(state.deferred_sequence_numbers, [5]);
    state.restore_in_flight();
    state.restore_in_flight();
    assert_eq!(state, before);

    // An older version may have left it in both.
    state.in_flight_sequence_number = Some(3);
    state.restore_in_flight();
    assert_eq!(state, before);

    state.take_deferred();
    state.settle_in_flight();
    state.take_deferred();
    assert_eq!(state.in_flight_sequence_number, Some(5));
    state.settle_in_flight();
    assert!(!state.has_deferred());
    state.take_deferred();
    assert_eq!(state, SessionState::default());
}

#[derive(Debug, Clone, Copy)]
enum Step {
    Park,
    Settle(i64),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![Just(Step::Park), (-2_i64..12).prop_map(Step::Settle)];
    proptest::collection::vec(step, 0..40)
}

proptest! {
    /// SUB-36: the count only goes up by parking, is never negative, and is always the next
    /// sequence minus the lowest that is not settled.
    #[test]
    fn the_count_is_the_distance_to_the_lowest_unsettled(steps in steps()) {
        let mut state = SessionState::default();
        let mut lowest_unsettled = 0;
        for step in steps {
            match step {
                Step::Park => state.count_parked(),
                Step::Settle(sequence) => {
                    let before = state.deferred_count;
                    state.settle_up_to(sequence);
                    prop_assert!(state.deferred_count <= before);
                    let settled = (sequence + 1).clamp(0, state.next_deferral_sequence);
                    lowest_unsettled = lowest_unsettled.max(settled);
                }
            }
            prop_assert_eq!(state.deferred_count, state.next_deferral_sequence - lowest_unsettled);
            prop_assert_eq!(state.lowest_unsettled(), lowest_unsettled);
        }
    }
}
