//! State and its version: who may write (SUB-07, SUB-08).

use nimbus_messaging::{Cas, SessionState, SessionStore, StateVersion};

use crate::support::{Test, cases};
use crate::world::{Fixture, blocked_by, copy, session, written};

pub(crate) const TESTS: &[Test] = cases![
    a_fresh_session_is_empty_and_unversioned,
    whoever_was_fenced_off_can_not_write_any_more,
    of_concurrent_writes_at_one_version_one_wins,
    of_concurrent_first_writes_one_wins,
    a_version_that_no_session_had_is_a_conflict,
    members_that_this_version_does_not_know_survive,
];

/// SUB-07
async fn a_fresh_session_is_empty_and_unversioned() {
    let fixture = Fixture::new().await;
    let fresh = fixture.sessions.read(&session("s")).await.expect("reads");
    assert_eq!(fresh.state, SessionState::default());
    assert_eq!(fresh.version, StateVersion(0));
    assert!(fixture.sessions.capabilities().atomic);
    assert_eq!(fixture.parked(10).await, []);
}

/// SUB-08: the fence shuts out a predecessor whose lock expired.
async fn whoever_was_fenced_off_can_not_write_any_more() {
    let fixture = Fixture::new().await;
    let (old, new) = (&fixture.sessions, fixture.elsewhere().await);
    let s = session("s");
    let fresh = old.fence(&s).await.expect("fences");
    let kept = copy(0, "kept", "{}");
    let parking = old.park(&s, &kept, &fresh.state, fresh.version).await;
    let before = written(parking.expect("parks"));
    let after = new.fence(&s).await.expect("fences");
    assert!(after.version > before);

    let state = blocked_by("late");
    let late = copy(1, "late", "{}");
    for outcome in [
        old.write(&s, &state, before).await,
        old.park(&s, &late, &state, before).await,
        old.unpark(&s, &kept.reference, &state, before).await,
    ] {
        assert_eq!(outcome.expect("an answer"), Cas::Conflict);
    }
    assert_eq!(new.read(&s).await.expect("reads"), after);
    assert_eq!(
        fixture.parked(10).await,
        [kept],
        "a conflict keeps no copy and removes none"
    );

    let state = blocked_by("order-1");
    let version = written(new.write(&s, &state, after.version).await.expect("writes"));
    assert!(version > after.version);
    let read = old.read(&s).await.expect("reads");
    assert_eq!((read.state, read.version), (state, version));
}

/// SUB-08: of two writes that expect the same version, one is a conflict.
async fn of_concurrent_writes_at_one_version_one_wins() {
    let fixture = Fixture::new().await;
    let other = fixture.elsewhere().await;
    for round in 0..20 {
        let expected = fixture.version().await;
        let writes = [fixture.sessions.clone(), other.clone()].map(|sessions| {
            tokio::spawn(async move {
                let state = blocked_by(&format!("order-{round}"));
                sessions.write(&session("s"), &state, expected).await
            })
        });
        let mut wins = 0;
        for write in writes {
            let cas = write.await.expect("no panic").expect("an answer");
            wins += usize::from(matches!(cas, Cas::Written(_)));
        }
        assert_eq!(wins, 1);
    }
}

/// SUB-07: state that a newer version or a peer wrote is kept.
async fn members_that_this_version_does_not_know_survive() {
    let fixture = Fixture::new().await;
    let s = session("s");
    let mut state = blocked_by("order-\u{0}\u{ffff}");
    let unknown = r#"{"FutureMember":{"a":[1,null,"\u0000"]},"Zahl":12345678901234}"#;
    state.unknown = SessionState::from_json(unknown.as_bytes())
        .expect("JSON")
        .unknown;
    assert_eq!(state.unknown.len(), 2);
    let outcome = fixture.sessions.write(&s, &state, StateVersion(0)).await;
    assert_eq!(written(outcome.expect("writes")), StateVersion(1));
    let fenced = fixture.sessions.fence(&s).await.expect("fences");
    assert_eq!((fenced.state, fenced.version), (state, StateVersion(2)));
}

/// SUB-08: also of the first ones, before the session has a row.
async fn of_concurrent_first_writes_one_wins() {
    let fixture = Fixture::new().await;
    let other = fixture.elsewhere().await;
    for round in 0..20 {
        let name = format!("s-{round}");
        let writes = [fixture.sessions.clone(), other.clone()].map(|sessions| {
            let s = session(&name);
            tokio::spawn(async move {
                let parked = copy(0, "a", "{}");
                let state = blocked_by("order");
                sessions.park(&s, &parked, &state, StateVersion(0)).await
            })
        });
        let mut wins = 0;
        for write in writes {
            let cas = write.await.expect("no panic").expect("an answer");
            wins += usize::from(matches!(cas, Cas::Written(_)));
        }
        assert_eq!(wins, 1);
        let limit = std::num::NonZeroU32::MIN;
        let kept = other.parked(&session(&name), limit).await.expect("reads");
        assert_eq!(kept[0].reference.generation, 0, "the other kept nothing");
    }
}

/// SUB-08
async fn a_version_that_no_session_had_is_a_conflict() {
    let fixture = Fixture::new().await;
    let s = session("s");
    let state = blocked_by("order");
    let write = fixture.sessions.write(&s, &state, StateVersion(7)).await;
    assert_eq!(write.expect("an answer"), Cas::Conflict);
    fixture.sessions.fence(&s).await.expect("fences");
    let write = fixture.sessions.write(&s, &state, StateVersion(0)).await;
    assert_eq!(write.expect("an answer"), Cas::Conflict);
    assert_eq!(fixture.version().await, StateVersion(1));
}
