//! Parked copies (SUB-18, SUB-35).

use std::num::NonZeroU32;

use nimbus_inbox_postgres::PostgresSessions;
use nimbus_messaging::{
    Envelope, ParkedCopy, PropertyValue, SessionState, SessionStore, StateVersion,
};

use crate::support::{Test, cases, drop_after};
use crate::world::{Fixture, copy, endpoint, session, written};

pub(crate) const TESTS: &[Test] = cases![
    copies_come_back_in_order_and_within_the_limit,
    a_copy_that_was_parked_again_survives_the_removal_of_the_first,
    a_copy_comes_back_as_it_went,
    no_endpoint_and_no_session_sees_another,
    a_parking_that_is_dropped_keeps_copy_and_state_together,
];

/// SUB-35: copy and state change together; the order is that of sequence, then id.
async fn copies_come_back_in_order_and_within_the_limit() {
    let fixture = Fixture::new().await;
    let s = session("s");
    let mut version = StateVersion(0);
    let mut state = SessionState::default();
    for (sequence, id) in [(2, "c"), (0, "b"), (0, "B"), (10, "a"), (0, "a")] {
        state.count_parked();
        let parked = copy(sequence, id, "{}");
        let outcome = fixture.sessions.park(&s, &parked, &state, version).await;
        version = written(outcome.expect("parks"));
    }
    let order = |copies: Vec<ParkedCopy>| -> Vec<(i64, String)> {
        let places = copies.into_iter().map(|copy| copy.reference);
        places.map(|place| (place.sequence, place.id)).collect()
    };
    let expected = [(0, "B"), (0, "a"), (0, "b"), (2, "c"), (10, "a")];
    let expected = expected.map(|(sequence, id)| (sequence, id.to_owned()));
    assert_eq!(order(fixture.parked(100).await), expected);
    assert_eq!(order(fixture.parked(2).await), expected[..2]);
    let read = fixture.sessions.read(&s).await.expect("reads");
    assert_eq!((read.state.deferred_count, read.version), (5, version));
}

/// SUB-18: removing a copy can't remove one that was parked again since.
async fn a_copy_that_was_parked_again_survives_the_removal_of_the_first() {
    let fixture = Fixture::new().await;
    let s = session("s");
    let (sessions, state) = (&fixture.sessions, SessionState::default());
    let first = copy(7, "a", "first");
    let version = written(
        sessions
            .park(&s, &first, &state, StateVersion(0))
            .await
            .expect("parks"),
    );
    let again = copy(7, "a", "again");
    let version = written(
        sessions
            .park(&s, &again, &state, version)
            .await
            .expect("parks"),
    );
    let parked = fixture.parked(10).await;
    assert_eq!(parked.len(), 1, "the same sequence and id is one copy");
    assert_eq!(parked[0].reference.generation, 1);
    assert_eq!(parked[0].envelope, again.envelope);

    let removal = sessions
        .unpark(&s, &first.reference, &state, version)
        .await
        .expect("writes");
    let version = written(removal);
    assert_eq!(fixture.parked(10).await, parked, "of another generation");
    let removal = sessions
        .unpark(&s, &parked[0].reference, &state, version)
        .await
        .expect("writes");
    written(removal);
    assert_eq!(fixture.parked(10).await, []);
}

async fn a_copy_comes_back_as_it_went() {
    let fixture = Fixture::new().await;
    let mut parked = copy(i64::MAX, "id \u{0}\u{1f600}", "");
    parked.envelope = Envelope {
        message_id: None,
        session_id: Some("s".into()),
        correlation_id: Some(String::new()),
        reply_to: Some("Resolver".into()),
        reply_to_session_id: Some("\u{0}".into()),
        content_type: Some("application/json".into()),
        body: vec![0, 255, 0, 128].into(),
        ..Envelope::default()
    };
    for (name, value) in [
        ("text", PropertyValue::from("\u{2603} \0 \"quoted\"")),
        ("empty", PropertyValue::from("")),
        ("integer", PropertyValue::Integer(i64::MIN)),
        ("tenth", PropertyValue::Float(0.1)),
        ("tiny", PropertyValue::Float(f64::from_bits(1))),
        ("infinite", PropertyValue::Float(f64::NEG_INFINITY)),
        ("boolean", PropertyValue::Boolean(false)),
        ("instant", PropertyValue::Instant(17_000_000_000_000_001)),
    ] {
        parked.envelope.properties.set(name, value);
    }
    let outcome = fixture
        .sessions
        .park(
            &session("s"),
            &parked,
            &SessionState::default(),
            StateVersion(0),
        )
        .await;
    written(outcome.expect("parks"));
    assert_eq!(fixture.parked(10).await, [parked]);
}

/// Endpoints and sessions share the tables, byte by byte apart.
async fn no_endpoint_and_no_session_sees_another() {
    let fixture = Fixture::new().await;
    let mut count = 0;
    let names = ["Billing", "billing", "Billing ", "Billing\u{0}"];
    for endpoint_name in names {
        let sessions = PostgresSessions::beside(&fixture.inbox, endpoint(endpoint_name));
        for session_name in names {
            let s = session(session_name);
            let fresh = sessions.fence(&s).await.expect("fences");
            assert_eq!(fresh.version, StateVersion(1), "{session_name:?}");
            count += 1;
            let parked = copy(count, "a", "{}");
            let outcome = sessions
                .park(&s, &parked, &SessionState::default(), fresh.version)
                .await;
            written(outcome.expect("parks"));
            let limit = NonZeroU32::new(100).expect("not zero");
            assert_eq!(sessions.parked(&s, limit).await.expect("reads"), [parked]);
        }
    }
}

/// SUB-35: a call that is dropped is whole or not at all.
async fn a_parking_that_is_dropped_keeps_copy_and_state_together() {
    let fixture = Fixture::new().await;
    fixture.sessions.verify().await.expect("a fresh schema");
    for polls in 0.. {
        let name = format!("s-{polls}");
        let s = session(&name);
        let mut state = SessionState::default();
        state.count_parked();
        let parked = copy(0, "a", "{}");
        let park = fixture.sessions.park(&s, &parked, &state, StateVersion(0));
        let answer = drop_after(polls, park).await;
        // Whatever was sent is over before this answers, or this fences it off.
        let fenced = fixture.sessions.fence(&s).await.expect("fences");
        let limit = NonZeroU32::MIN;
        let kept = fixture.sessions.parked(&s, limit).await.expect("reads");
        assert_eq!(
            usize::try_from(fenced.state.deferred_count).expect("small"),
            kept.len(),
            "dropped after {polls} polls"
        );
        if let Some(answer) = answer {
            written(answer.expect("parks"));
            assert_eq!(kept, [parked]);
            return;
        }
    }
}
