//! State and its version.

use futures_util::future::try_join_all;
use nimbus_messaging::{Cas, ErrorContent, EventId, SessionState, VersionedState};
use serde_json::json;

use super::under_test::{SessionUnderTest, counting};
use super::{SessionCase, cases};
use crate::conformance::answers::expect;

pub(super) const CASES: &[SessionCase] = cases![
    a_fresh_session_has_an_empty_state,
    state_is_kept_with_the_members_nobody_knows,
    a_fence_raises_the_version_and_a_read_does_not,
    every_write_raises_the_version,
    a_write_at_an_old_version_changes_nothing,
    of_concurrent_writes_at_one_version_one_is_written,
];

/// SUB-33
async fn a_fresh_session_has_an_empty_state(held: SessionUnderTest) {
    assert_eq!(held.fence().await.state, SessionState::default());
    assert_eq!(held.read().await.state, SessionState::default());
}

/// SUB-07
async fn state_is_kept_with_the_members_nobody_knows(held: SessionUnderTest) {
    let mut state = SessionState {
        blocked_by_event_id: Some(EventId::from("event-\u{0}\u{ffff}".to_owned())),
        blocked_by_message_id: Some("order-42".to_owned()),
        block_id: Some("block-1".to_owned()),
        blocked_by_handoff: true,
        blocked_by_error: Some(ErrorContent::default()),
        deferred_count: 3,
        next_deferral_sequence: i64::MAX,
        deferred_sequence_numbers: vec![7, i64::MAX],
        in_flight_sequence_number: Some(7),
        ..SessionState::default()
    };
    let unknown = json!({"text": "größer 🚀 \u{0}", "number": 12_345_678_901_234_i64, "list": [1, 2.5, null, {"deep": true}]});
    state.unknown.insert("Theirs".to_owned(), unknown);
    let version = held.write(&state, held.fence().await.version).await;
    let read = held.read().await;
    assert_eq!(read, VersionedState { state, version });
}

/// SUB-08
async fn a_fence_raises_the_version_and_a_read_does_not(held: SessionUnderTest) {
    let first = held.fence().await.version;
    assert_eq!(held.read().await.version, first);
    assert_eq!(held.read().await.version, first);
    let second = held.fence().await.version;
    assert!(second > first, "a fence left the version at {first:?}");
    assert_eq!(held.read().await.version, second);
}

/// SUB-08
async fn every_write_raises_the_version(held: SessionUnderTest) {
    let mut version = held.fence().await.version;
    // Writing what is there already is a write as well.
    for deferred in [1, 1, 0] {
        let raised = held.write(&counting(deferred), version).await;
        assert!(raised > version);
        version = raised;
    }
}

/// SUB-08
async fn a_write_at_an_old_version_changes_nothing(held: SessionUnderTest) {
    let fenced_out = held.fence().await.version;
    let overwritten = held.fence().await.version;
    held.write(&counting(1), overwritten).await;
    let kept = held.read().await;
    for old in [fenced_out, overwritten] {
        let cas = held.store.write(&held.session, &counting(9), old).await;
        assert_eq!(expect("a late write", cas), Cas::Conflict);
        assert_eq!(held.read().await, kept);
    }
}

/// SUB-08
async fn of_concurrent_writes_at_one_version_one_is_written(held: SessionUnderTest) {
    let version = held.fence().await.version;
    let writing = (1..=16).map(|deferred| {
        let (store, session) = (held.store.clone(), held.session.clone());
        tokio::spawn(async move {
            let cas = store.write(&session, &counting(deferred), version).await;
            (deferred, expect("a concurrent write", cas))
        })
    });
    let answers = try_join_all(writing).await.expect("no write failed");
    let written: Vec<_> = answers
        .into_iter()
        .filter_map(|(deferred, cas)| match cas {
            Cas::Written(version) => Some((deferred, version)),
            Cas::Conflict => None,
        })
        .collect();
    let [(deferred, version)] = written[..] else {
        panic!("written at one version: {written:?}");
    };
    let state = counting(deferred);
    assert_eq!(held.read().await, VersionedState { state, version });
}
