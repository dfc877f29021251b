//! Parked copies.

use nimbus_messaging::{Cas, Envelope, ParkedRef, PropertyValue};

use super::under_test::{SessionUnderTest, copy, counting, names, written};
use super::{SessionCase, cases};
use crate::conformance::answers::expect;

pub(super) const CASES: &[SessionCase] = cases![
    parking_keeps_copy_and_state,
    a_copy_keeps_its_message,
    copies_come_by_sequence_then_id,
    the_same_copy_again_is_one_of_the_next_generation,
    a_copy_never_overwrites_one_with_another_id,
    unparking_removes_the_copy_and_keeps_the_state,
    unparking_an_old_generation_removes_nothing,
    unparking_what_is_gone_keeps_the_state,
    parking_at_an_old_version_counts_nothing,
    unparking_at_an_old_version_removes_nothing,
];

/// SUB-35
async fn parking_keeps_copy_and_state(held: SessionUnderTest) {
    let version = held.fence().await.version;
    assert!(held.parked().await.is_empty());
    let raised = held.park(&copy(0, "m-1"), &counting(1), version).await;
    assert!(raised > version);
    let read = held.read().await;
    assert_eq!((read.state, read.version), (counting(1), raised));
    assert_eq!(names(&held.parked().await), [(0, "m-1")]);
}

/// SUB-33
async fn a_copy_keeps_its_message(held: SessionUnderTest) {
    let mut version = held.fence().await.version;
    let mut full = copy(0, "full");
    full.envelope.correlation_id = Some("conversation".to_owned());
    full.envelope.reply_to = Some("ReplyEndpoint".to_owned());
    full.envelope.content_type = Some("application/json".to_owned());
    full.envelope.properties.set("Größe", "🚀");
    full.envelope.reply_to_session_id = Some("\u{0}".to_owned());
    for (name, value) in [
        ("Text", PropertyValue::from("\u{2603} \0 \"quoted\"")),
        ("Empty", PropertyValue::from("")),
        ("Integer", PropertyValue::Integer(i64::MIN)),
        ("Tenth", PropertyValue::Float(0.1)),
        ("Tiny", PropertyValue::Float(f64::from_bits(1))),
        ("Infinite", PropertyValue::Float(f64::NEG_INFINITY)),
        ("Boolean", PropertyValue::Boolean(false)),
        ("Instant", PropertyValue::Instant(17_000_000_000_000_001)),
    ] {
        full.envelope.properties.set(name, value);
    }
    full.envelope.body = (0..=u8::MAX).collect::<Vec<_>>().into();
    let mut bare = copy(i64::MAX, "bare \u{0}\u{1f600}");
    bare.envelope = Envelope::default();
    for (count, copy) in (1..).zip([&full, &bare]) {
        version = held.park(copy, &counting(count), version).await;
    }
    let parked: Vec<_> = held
        .parked()
        .await
        .into_iter()
        .map(|copy| copy.envelope)
        .collect();
    assert_eq!(parked, [full.envelope, bare.envelope]);
}

/// SUB-33
async fn copies_come_by_sequence_then_id(held: SessionUnderTest) {
    let mut version = held.fence().await.version;
    // As text, 10 would come before 9.
    let order = [
        (-1, "m"),
        (0, "m"),
        (9, "A"),
        (9, "a"),
        (9, "b"),
        (10, "a"),
        (1 << 40, "a"),
    ];
    for at in [4, 0, 6, 2, 5, 1, 3] {
        let (sequence, id) = order[at];
        version = held.park(&copy(sequence, id), &counting(1), version).await;
    }
    assert_eq!(names(&held.parked().await), order);
    assert_eq!(names(&held.parked_up_to(3).await), order[..3]);
    assert_eq!(names(&held.parked_up_to(1).await), order[..1]);
}

/// SUB-35: a crash between copy and state parks the same copy again.
async fn the_same_copy_again_is_one_of_the_next_generation(held: SessionUnderTest) {
    let version = held.fence().await.version;
    let version = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let first = held.only_parked().await;
    let mut again = copy(0, "m-1");
    again.envelope.correlation_id = Some("again".to_owned());
    held.park(&again, &counting(1), version).await;
    let second = held.only_parked().await;
    assert_eq!((second.sequence, &second.id), (first.sequence, &first.id));
    assert!(second.generation > first.generation, "{first:?} {second:?}");
}

/// SUB-35
async fn a_copy_never_overwrites_one_with_another_id(held: SessionUnderTest) {
    let mut version = held.fence().await.version;
    for id in ["m-1", "M-1", "m-1 "] {
        version = held.park(&copy(0, id), &counting(1), version).await;
    }
    assert_eq!(held.parked().await.len(), 3);
}

/// SUB-18
async fn unparking_removes_the_copy_and_keeps_the_state(held: SessionUnderTest) {
    let version = held.fence().await.version;
    let version = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let version = held.park(&copy(1, "m-2"), &counting(2), version).await;
    let first = held.parked_up_to(1).await.remove(0).reference;
    let unparked = held
        .store
        .unpark(&held.session, &first, &counting(3), version)
        .await;
    let raised = written(expect("unparking", unparked));
    assert!(raised > version);
    let read = held.read().await;
    assert_eq!((read.state, read.version), (counting(3), raised));
    assert_eq!(names(&held.parked().await), [(1, "m-2")]);
}

/// SUB-18: removing a copy can't remove a later one.
async fn unparking_an_old_generation_removes_nothing(held: SessionUnderTest) {
    let version = held.fence().await.version;
    let version = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let old = held.only_parked().await;
    let version = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let unparked = held
        .store
        .unpark(&held.session, &old, &counting(3), version)
        .await;
    written(expect("unparking an old generation", unparked));
    assert_eq!(held.read().await.state, counting(3));
    assert_ne!(held.only_parked().await, old);
}

/// SUB-33
async fn unparking_what_is_gone_keeps_the_state(held: SessionUnderTest) {
    let version = held.fence().await.version;
    let version = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let gone = ParkedRef {
        sequence: 5,
        id: "m-1".to_owned(),
        generation: 0,
    };
    let unparked = held
        .store
        .unpark(&held.session, &gone, &counting(3), version)
        .await;
    written(expect("unparking what is gone", unparked));
    assert_eq!(held.read().await.state, counting(3));
    assert_eq!(names(&held.parked().await), [(0, "m-1")]);
}

/// SUB-08, SUB-35
async fn parking_at_an_old_version_counts_nothing(held: SessionUnderTest) {
    let old = held.fence().await.version;
    let fenced = held.fence().await;
    let parked = held
        .store
        .park(&held.session, &copy(0, "m-1"), &counting(1), old)
        .await;
    assert_eq!(expect("parking late", parked), Cas::Conflict);
    assert_eq!(held.read().await, fenced);
    if held.store.capabilities().atomic {
        assert!(
            held.parked().await.is_empty(),
            "an atomic store kept a copy"
        );
    }
}

/// SUB-08, SUB-18
async fn unparking_at_an_old_version_removes_nothing(held: SessionUnderTest) {
    let version = held.fence().await.version;
    let old = held.park(&copy(0, "m-1"), &counting(1), version).await;
    let parked = held.only_parked().await;
    let fenced = held.fence().await;
    let unparked = held
        .store
        .unpark(&held.session, &parked, &counting(0), old)
        .await;
    assert_eq!(expect("unparking late", unparked), Cas::Conflict);
    assert_eq!(held.read().await, fenced);
    assert_eq!(held.only_parked().await, parked);
}
