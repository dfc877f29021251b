//! Parked copies, as far as the lanes of their sessions matter.

use super::session_state::expect_shut_out;
use super::subject::Subject;
use super::{TransportCase, cases};
use crate::conformance::session_store::{copy, counting, names};

pub(super) const CASES: &[TransportCase] = cases![SessionStore:
    sessions_have_copies_of_their_own,
    a_late_holder_removes_no_copy,
];

/// SUB-33
async fn sessions_have_copies_of_their_own(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (mut lanes, mut held) = (Vec::new(), Vec::new());
    for name in ["a", "A", "a "] {
        let (lane, session) = process.hold_session(&endpoint, name).await;
        let version = session.fence().await.version;
        assert!(session.parked().await.is_empty(), "{name:?}");
        session.park(&copy(0, name), &counting(1), version).await;
        lanes.push(lane);
        held.push((name, session));
    }
    for (name, session) in &held {
        assert_eq!(names(&session.parked().await), [(0, *name)]);
    }
}

/// SUB-08: its successor may still need the copy.
async fn a_late_holder_removes_no_copy(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    let (late_lane, late) = process.hold_session(&endpoint, "s").await;
    let version = late.fence().await.version;
    let version = late.park(&copy(0, "m-1"), &counting(1), version).await;
    let parked = late.only_parked().await;
    process.pass(late_lane.outlasting()).await;
    let (_lane, successor) = other.hold_session(&endpoint, "s").await;
    let fenced = successor.fence().await;
    let unparked = late
        .store
        .unpark(&late.session, &parked, &counting(0), version)
        .await;
    expect_shut_out(&unparked);
    assert_eq!(successor.read().await, fenced);
    assert_eq!(successor.only_parked().await, parked);
}
