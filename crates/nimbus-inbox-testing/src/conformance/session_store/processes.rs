//! Several processes and endpoints on one store.

use std::future::Future;

use futures_util::future::{BoxFuture, try_join_all};
use nimbus_messaging::{Cas, SessionState, StateVersion, TransportError};

use super::subject::{Subject, session};
use super::{copy, counting};
use crate::conformance::answers::expect;

/// A case that opens the store more than once.
pub(super) struct ProcessCase {
    pub(super) name: &'static str,
    pub(super) body: fn(Subject) -> BoxFuture<'static, ()>,
}

macro_rules! cases {
    ($($name:ident),+ $(,)?) => {
        &[$(ProcessCase {
            name: stringify!($name),
            body: |subject| Box::pin($name(subject)),
        }),+]
    };
}

pub(super) const CASES: &[ProcessCase] = cases![
    the_next_process_finds_state_and_copies,
    whoever_was_fenced_off_can_not_write_any_more,
    of_concurrent_writes_of_two_processes_one_is_written,
    of_concurrent_first_writes_one_is_written,
    a_version_that_no_session_had_is_a_conflict,
    no_endpoint_and_no_session_sees_another,
];

/// SUB-33
async fn the_next_process_finds_state_and_copies(subject: Subject) {
    let first = subject.session("s").await;
    let version = first.fence().await.version;
    let version = first.park(&copy(3, "m"), &counting(1), version).await;
    let parked = first.parked().await;
    drop(first);
    let next = subject.session("s").await;
    let fenced = next.fence().await;
    assert_eq!(fenced.state, counting(1));
    assert!(fenced.version > version);
    assert_eq!(next.parked().await, parked);
}

/// SUB-08: the fence shuts out a predecessor whose lock expired.
async fn whoever_was_fenced_off_can_not_write_any_more(subject: Subject) {
    let (old, new) = (subject.session("s").await, subject.session("s").await);
    let fresh = old.fence().await;
    let before = old
        .park(&copy(0, "kept"), &fresh.state, fresh.version)
        .await;
    let kept = old.only_parked().await;
    let after = new.fence().await;
    assert!(after.version > before);

    let (late, state) = (copy(1, "late"), counting(9));
    for outcome in [
        old.store.write(&old.session, &state, before).await,
        old.store.park(&old.session, &late, &state, before).await,
        old.store.unpark(&old.session, &kept, &state, before).await,
    ] {
        assert_eq!(expect("a late write", outcome), Cas::Conflict);
    }
    assert_eq!(new.read().await, after);
    let parked = new.parked().await;
    assert!(parked.iter().any(|copy| copy.reference == kept));
    if new.store.capabilities().atomic {
        assert_eq!(parked.len(), 1, "a conflict kept a copy");
    }
    let version = new.write(&counting(1), after.version).await;
    let read = old.read().await;
    assert_eq!((read.state, read.version), (counting(1), version));
}

/// SUB-08
async fn of_concurrent_writes_of_two_processes_one_is_written(subject: Subject) {
    let processes = [subject.session("s").await, subject.session("s").await];
    for round in 0..20 {
        let expected = processes[0].read().await.version;
        let writes = processes.clone().map(|held| async move {
            let state = counting(round);
            let cas = held.store.write(&held.session, &state, expected);
            cas.await
        });
        only_one_is_written(writes).await;
    }
}

/// SUB-08: also of the first ones, before anything is kept of the session.
async fn of_concurrent_first_writes_one_is_written(subject: Subject) {
    let stores = [subject.open("Billing").await, subject.open("Billing").await];
    for round in 0..20 {
        let name = format!("s-{round}");
        let processes = stores.clone().map(|store| session(store, &name));
        let expected = processes[0].read().await.version;
        let parkings = processes.clone().map(|held| async move {
            let (parked, state) = (copy(0, "m"), counting(1));
            let cas = held.store.park(&held.session, &parked, &state, expected);
            cas.await
        });
        only_one_is_written(parkings).await;
        let only = processes[0].only_parked().await;
        if processes[0].store.capabilities().atomic {
            assert_eq!(only.generation, 0, "the other kept its copy as well");
        }
    }
}

/// Runs the calls at once.
async fn only_one_is_written(
    calls: [impl Future<Output = Result<Cas, TransportError>> + Send + 'static; 2],
) {
    let answers = try_join_all(calls.map(tokio::spawn)).await;
    let answers = answers.expect("no call panicked");
    let written = answers.into_iter().filter(|answer| match answer {
        Ok(cas) => matches!(cas, Cas::Written(_)),
        Err(error) => panic!("a concurrent write failed: {error}"),
    });
    assert_eq!(written.count(), 1, "written at one version");
}

/// SUB-08
async fn a_version_that_no_session_had_is_a_conflict(subject: Subject) {
    let held = subject.session("s").await;
    let fresh = held.read().await.version;
    let ahead = StateVersion(fresh.0 + 7);
    let cas = held.store.write(&held.session, &counting(1), ahead).await;
    assert_eq!(expect("a write ahead", cas), Cas::Conflict);
    let fenced = held.fence().await;
    assert_eq!(fenced.state, SessionState::default());
    let cas = held.store.write(&held.session, &counting(1), fresh).await;
    assert_eq!(expect("a write before the fence", cas), Cas::Conflict);
    assert_eq!(held.read().await, fenced);
}

/// SUB-33: endpoints and sessions share the tables, byte by byte apart.
async fn no_endpoint_and_no_session_sees_another(subject: Subject) {
    const NAMES: [&str; 5] = [
        "Billing",
        "billing",
        "Billing ",
        "Billing\u{0}",
        "Billing\\0",
    ];
    let mut held = Vec::new();
    for endpoint in NAMES {
        let store = subject.open(endpoint).await;
        for name in NAMES {
            let session = session(store.clone(), name);
            let fenced = session.fence().await;
            let place = (endpoint, name);
            assert_eq!(fenced.state, SessionState::default(), "{place:?}");
            assert_eq!(session.parked().await, [], "{place:?}");
            let count = i64::try_from(held.len()).expect("few") + 1;
            let parked = copy(count, "m");
            session
                .park(&parked, &counting(count), fenced.version)
                .await;
            held.push((count, session));
        }
    }
    for (count, session) in &held {
        assert_eq!(session.read().await.state, counting(*count));
        assert_eq!(session.only_parked().await.sequence, *count);
    }
}
