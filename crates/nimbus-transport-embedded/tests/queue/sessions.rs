//! State and parked copies of sessions.

use std::num::NonZeroU32;
use std::sync::Arc;

use nimbus_messaging::{
    Cas, EventId, ParkedCopy, ParkedRef, SessionState, SessionStore, StateVersion,
};
use nimbus_transport_embedded::EmbeddedTransport;

use crate::support::*;

const MANY: NonZeroU32 = NonZeroU32::new(100).expect("not zero");

async fn locked(transport: &EmbeddedTransport) -> (Arc<dyn SessionStore>, StateVersion) {
    send(transport, &[("s", "1")]).await;
    let store = accept(transport).await.sessions().expect("it has one");
    let fenced = store.fence(&session("s")).await.expect("locked");
    (store, fenced.version)
}

fn copy(sequence: i64, id: &str) -> ParkedCopy {
    ParkedCopy {
        reference: ParkedRef {
            sequence,
            id: id.to_owned(),
            generation: 0,
        },
        envelope: message("s", id),
    }
}

async fn parked(store: &Arc<dyn SessionStore>) -> Vec<ParkedRef> {
    let copies = store.parked(&session("s"), MANY).await.expect("readable");
    copies.into_iter().map(|copy| copy.reference).collect()
}

fn written(cas: Cas) -> StateVersion {
    match cas {
        Cas::Written(version) => version,
        Cas::Conflict => panic!("a conflict"),
    }
}

/// SUB-07, SUB-08: state is written under its version only, and members of a newer version survive.
#[tokio::test]
async fn state_is_written_at_the_version_it_was_read_at() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let (store, fenced) = locked(&transport).await;
    let mut state = SessionState {
        blocked_by_event_id: Some(EventId::new("event")),
        ..SessionState::default()
    };
    state
        .unknown
        .insert("OfTomorrow".to_owned(), vec![1, 2].into());
    let version = store.write(&session("s"), &state, fenced).await;
    let version = written(version.expect("locked"));
    assert!(version > fenced);
    let fresh = SessionState::default();
    let stale = store.write(&session("s"), &fresh, fenced).await;
    assert_eq!(stale.expect("locked"), Cas::Conflict);

    let read = store.read(&session("s")).await.expect("readable");
    assert_eq!((&read.state, read.version), (&state, version));
    let fenced = store.fence(&session("s")).await.expect("locked");
    assert_eq!(fenced.state, state);
    assert!(fenced.version > version);
    let inspected = transport
        .inspector()
        .session("BillingEndpoint", &session("s"))
        .await;
    assert_eq!(inspected.expect("declared"), fenced);
}

/// SUB-35: a copy and the state are kept together or not at all.
#[tokio::test]
async fn parking_keeps_copy_and_state_together() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let (store, version) = locked(&transport).await;
    let mut state = SessionState::default();
    state.count_parked();
    let parking = store
        .park(&session("s"), &copy(0, "a"), &state, version)
        .await;
    let version = written(parking.expect("locked"));

    let stale = StateVersion(version.0 - 1);
    let conflict = store
        .park(&session("s"), &copy(1, "b"), &state, stale)
        .await;
    assert_eq!(conflict.expect("locked"), Cas::Conflict);
    assert_eq!(parked(&store).await, [copy(0, "a").reference]);
    let (reference, fresh) = (copy(0, "a").reference, SessionState::default());
    let conflict = store.unpark(&session("s"), &reference, &fresh, stale).await;
    assert_eq!(conflict.expect("locked"), Cas::Conflict);
    assert_eq!(parked(&store).await.len(), 1);

    let removal = store
        .unpark(&session("s"), &reference, &fresh, version)
        .await;
    written(removal.expect("locked"));
    assert!(parked(&store).await.is_empty());
    let read = store.read(&session("s")).await.expect("readable");
    assert_eq!(read.state, SessionState::default());
}

/// SUB-18, SUB-35: the same copy again is one copy of a later generation, which an earlier
/// reference doesn't remove; another id at the same sequence stands beside it.
#[tokio::test]
async fn a_copy_that_is_parked_again_is_of_a_later_generation() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let (store, mut version) = locked(&transport).await;
    let state = SessionState::default();
    for copy in [copy(7, "b"), copy(7, "a"), copy(3, "c"), copy(7, "b")] {
        let parking = store.park(&session("s"), &copy, &state, version).await;
        version = written(parking.expect("locked"));
    }
    let again = ParkedRef {
        generation: 1,
        ..copy(7, "b").reference
    };
    assert_eq!(
        parked(&store).await,
        [
            copy(3, "c").reference,
            copy(7, "a").reference,
            again.clone()
        ]
    );
    let old = store
        .unpark(&session("s"), &copy(7, "b").reference, &state, version)
        .await;
    version = written(old.expect("locked"));
    assert_eq!(parked(&store).await.len(), 3, "of another generation");
    let current = store.unpark(&session("s"), &again, &state, version).await;
    written(current.expect("locked"));
    assert_eq!(parked(&store).await.len(), 2);
    let first = store
        .parked(&session("s"), NonZeroU32::MIN)
        .await
        .expect("readable");
    assert_eq!(first, [copy(3, "c")]);
}

/// SUB-08: a receiver whose lock expired parks nothing, and its successor sees the state it left.
#[tokio::test]
async fn a_predecessor_changes_nothing() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let (store, version) = locked(&transport).await;
    machine.clock.advance(LOCK);
    let lane = accept(&transport).await;
    let state = SessionState::default();
    assert_lock_lost(store.write(&session("s"), &state, version).await);
    assert_lock_lost(
        store
            .park(&session("s"), &copy(0, "a"), &state, version)
            .await,
    );
    let reference = copy(0, "a").reference;
    assert_lock_lost(
        store
            .unpark(&session("s"), &reference, &state, version)
            .await,
    );
    let successor = lane.sessions().expect("it has one");
    assert!(parked(&successor).await.is_empty());
    let fenced = successor.fence(&session("s")).await.expect("locked");
    assert!(fenced.version > version);
}

/// State and parked copies survive a restart, and belong to one queue.
#[tokio::test]
async fn sessions_survive_a_restart() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let (store, version) = locked(&transport).await;
    let mut state = SessionState::default();
    state.count_parked();
    let parking = store
        .park(&session("s"), &copy(0, "a"), &state, version)
        .await;
    written(parking.expect("locked"));
    drop((store, transport));

    let transport = machine.process().await;
    let inspector = transport.inspector();
    let read = inspector.session("BillingEndpoint", &session("s")).await;
    assert_eq!(read.expect("declared").state, state);
    let copies = inspector.parked("BillingEndpoint", &session("s"), 10).await;
    assert_eq!(copies.expect("declared"), [copy(0, "a")]);
    let elsewhere = inspector.session("Resolver", &session("s")).await;
    assert_eq!(elsewhere.expect("declared").version, StateVersion(0));
}
