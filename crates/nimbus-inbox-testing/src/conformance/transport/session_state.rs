use futures_util::future::try_join_all;
use nimbus_messaging::{
    Cas, ErrorContent, EventId, SessionState, StateVersion, TransportError, TransportErrorKind,
    VersionedState,
};
use serde_json::json;

use super::names::exotic;
use super::subject::{SessionUnderTest, Subject, expect, message};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![SessionStore:
    a_fresh_session_has_an_empty_state,
    state_is_kept_with_the_members_nobody_knows,
    state_outlasts_the_lane,
    a_fence_raises_the_version_and_a_read_does_not,
    every_write_raises_the_version,
    a_write_at_an_old_version_changes_nothing,
    of_concurrent_writes_at_one_version_one_is_written,
    a_late_holder_writes_nothing,
    sessions_have_states_of_their_own,
];

pub(super) const UNSUPPORTED_CASES: &[TransportCase] = cases![NoSessionStore:
    a_lane_has_no_session_store,
];

impl SessionUnderTest {
    pub(super) async fn fence(&self) -> VersionedState {
        expect("a fence", self.store.fence(&self.session).await)
    }

    pub(super) async fn read(&self) -> VersionedState {
        expect("a read of the state", self.store.read(&self.session).await)
    }

    /// A write that must go through.
    pub(super) async fn write(&self, state: &SessionState, expected: StateVersion) -> StateVersion {
        let cas = self.store.write(&self.session, state, expected).await;
        written(expect("a write of the state", cas))
    }
}

/// The version of a write that must have gone through.
pub(super) fn written(cas: Cas) -> StateVersion {
    match cas {
        Cas::Written(version) => version,
        Cas::Conflict => panic!("a write at the current version met a conflict"),
    }
}

pub(super) fn counting(deferred: i64) -> SessionState {
    SessionState {
        deferred_count: deferred,
        next_deferral_sequence: deferred,
        ..SessionState::default()
    }
}

/// SUB-33
async fn a_fresh_session_has_an_empty_state(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (_lane, held) = process.hold_session(&endpoint, "s").await;
    assert_eq!(held.fence().await.state, SessionState::default());
    assert_eq!(held.read().await.state, SessionState::default());
}

/// SUB-07
async fn state_is_kept_with_the_members_nobody_knows(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (_lane, held) = process.hold_session(&endpoint, "s").await;
    let mut state = SessionState {
        blocked_by_event_id: Some(EventId::from("event-1".to_owned())),
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
    let unknown = json!({"text": "größer 🚀", "list": [1, 2.5, null, {"deep": true}]});
    state.unknown.insert("Theirs".to_owned(), unknown);
    let version = held.write(&state, held.fence().await.version).await;
    let read = held.read().await;
    assert_eq!(read, VersionedState { state, version });
}

/// SUB-33
async fn state_outlasts_the_lane(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    let (lane, held) = process.hold_session(&endpoint, "s").await;
    let version = held.write(&counting(1), held.fence().await.version).await;
    lane.release().await;
    let (_lane, held) = other.hold_session(&endpoint, "s").await;
    let fenced = held.fence().await;
    assert_eq!(fenced.state, counting(1));
    assert!(fenced.version > version);
}

/// SUB-08
async fn a_fence_raises_the_version_and_a_read_does_not(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (_lane, held) = process.hold_session(&endpoint, "s").await;
    let first = held.fence().await.version;
    assert_eq!(held.read().await.version, first);
    assert_eq!(held.read().await.version, first);
    let second = held.fence().await.version;
    assert!(second > first, "a fence left the version at {first:?}");
    assert_eq!(held.read().await.version, second);
}

/// SUB-08
async fn every_write_raises_the_version(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (_lane, held) = process.hold_session(&endpoint, "s").await;
    let mut version = held.fence().await.version;
    // Writing what is there already is a write as well.
    for deferred in [1, 1, 0] {
        let raised = held.write(&counting(deferred), version).await;
        assert!(raised > version);
        version = raised;
    }
}

/// SUB-08
async fn a_write_at_an_old_version_changes_nothing(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (_lane, held) = process.hold_session(&endpoint, "s").await;
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
async fn of_concurrent_writes_at_one_version_one_is_written(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (_lane, held) = process.hold_session(&endpoint, "s").await;
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

/// SUB-08: a receiver whose lock ran out may still be about to write.
async fn a_late_holder_writes_nothing(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    let (late_lane, late) = process.hold_session(&endpoint, "s").await;
    let version = late.fence().await.version;
    process.pass(late_lane.outlasting()).await;
    let (_lane, successor) = other.hold_session(&endpoint, "s").await;
    let fenced = successor.fence().await;
    let cas = late.store.write(&late.session, &counting(9), version).await;
    expect_shut_out(&cas);
    let again = successor.read().await;
    assert_eq!(again, fenced, "the late holder changed the state");
    successor.write(&counting(1), fenced.version).await;
}

/// The lock or the version says that the lock is lost.
pub(super) fn expect_shut_out(cas: &Result<Cas, TransportError>) {
    match cas {
        Ok(Cas::Conflict) => {}
        Err(error) if error.kind() == TransportErrorKind::LockLost => {}
        other => panic!("a late holder's write answered {other:?}"),
    }
}

/// SUB-33
async fn sessions_have_states_of_their_own(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (mut lanes, mut held) = (Vec::new(), Vec::new());
    for (deferred, name) in (1..).zip(exotic()) {
        let (lane, session) = process.hold_session(&endpoint, &name).await;
        let fenced = session.fence().await;
        assert_eq!(fenced.state, SessionState::default(), "{name:?}");
        session.write(&counting(deferred), fenced.version).await;
        lanes.push(lane);
        held.push((deferred, session));
    }
    for (deferred, session) in &held {
        assert_eq!(session.read().await.state, counting(*deferred));
    }
}

/// SUB-33
async fn a_lane_has_no_session_store(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    assert!(process.accept(&endpoint).await.0.sessions().is_none());
}
