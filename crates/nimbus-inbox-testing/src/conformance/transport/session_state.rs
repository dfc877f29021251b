//! State of sessions, as far as their lanes and processes matter.

use nimbus_messaging::{Cas, SessionState, TransportError, TransportErrorKind};

use super::names::exotic;
use super::subject::{Subject, message};
use super::{TransportCase, cases};
use crate::conformance::session_store::counting;

pub(super) const CASES: &[TransportCase] = cases![SessionStore:
    state_outlasts_the_lane,
    a_late_holder_writes_nothing,
    sessions_have_states_of_their_own,
];

pub(super) const UNSUPPORTED_CASES: &[TransportCase] = cases![NoSessionStore:
    a_lane_has_no_session_store,
];

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
