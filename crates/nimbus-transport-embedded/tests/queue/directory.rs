//! Sessions as a tool sees them.

use std::num::NonZeroU32;
use std::sync::Arc;

use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{
    Cas, EventId, ParkedCopy, ParkedRef, SessionDirectory, SessionState, Transport,
    TransportErrorKind,
};
use nimbus_sqlite::rusqlite::Connection;
use nimbus_transport_embedded::EmbeddedTransport;

use crate::support::*;

const MANY: NonZeroU32 = NonZeroU32::new(100).expect("not zero");

async fn directory(transport: &EmbeddedTransport) -> Arc<dyn SessionDirectory> {
    let directory = transport.session_directory(&billing()).await;
    directory.expect("it answers").expect("it can list them")
}

/// Holds a session once and leaves it in this state.
async fn leave(transport: &EmbeddedTransport, name: &str, state: SessionState, parked: &[&str]) {
    send(transport, &[(name, "1")]).await;
    let mut lane = accept(transport).await;
    let store = lane.sessions().expect("it has one");
    let id = session(name);
    let mut version = store.fence(&id).await.expect("locked").version;
    for (sequence, copy) in (0..).zip(parked) {
        let copy = ParkedCopy {
            reference: ParkedRef {
                sequence,
                id: (*copy).to_owned(),
                generation: 0,
            },
            envelope: message(name, copy),
        };
        let parked = store.park(&id, &copy, &state, version).await;
        let Ok(Cas::Written(next)) = parked else {
            panic!("{parked:?}");
        };
        version = next;
    }
    let written = store.write(&id, &state, version).await;
    assert!(matches!(written, Ok(Cas::Written(_))), "{written:?}");
    complete_all(&mut lane).await;
    lane.release().await.expect("released");
}

fn blocked() -> SessionState {
    SessionState {
        blocked_by_event_id: Some(EventId::new("event")),
        ..SessionState::default()
    }
}

/// SUB-07, SUB-33: a tool sees the sessions that are blocked or have messages set aside, by name
/// and page by page, without holding them; free ones don't stand in the way.
#[tokio::test]
async fn sessions_that_wait_are_listed() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let draining = SessionState {
        deferred_count: 2,
        ..SessionState::default()
    };
    let older = SessionState {
        deferred_sequence_numbers: vec![7],
        ..SessionState::default()
    };
    leave(&transport, "a", blocked(), &["x", "y"]).await;
    leave(&transport, "b", SessionState::default(), &[]).await;
    leave(&transport, "c", draining, &[]).await;
    leave(&transport, "d", older, &[]).await;
    leave(&transport, "e", SessionState::default(), &["orphan"]).await;

    let directory = directory(&transport).await;
    let listed = directory.list(None, MANY).await.expect("readable");
    let names: Vec<_> = listed.iter().map(|found| found.id.as_str()).collect();
    assert_eq!(names, ["a", "c", "d", "e"]);
    assert_eq!((listed[0].parked, listed[1].parked), (2, 0));
    assert_eq!(listed[0].state, Some(blocked()));

    let one = NonZeroU32::MIN;
    let page = directory.list(Some(&session("a")), one).await;
    assert_eq!(page.expect("readable")[0].id, session("c"));
    let copies = directory.parked(&session("a"), MANY).await;
    let copies = copies.expect("readable");
    let ids: Vec<_> = copies.iter().map(|copy| &*copy.reference.id).collect();
    assert_eq!(ids, ["x", "y"]);
    let free = directory.look(&session("never seen")).await;
    let free = free.expect("readable");
    assert_eq!(
        (free.state, free.parked),
        (Some(SessionState::default()), 0)
    );
}

/// SUB-07: a state that can't be read is shown as such and hides no other.
#[tokio::test]
async fn a_damaged_state_hides_no_other() {
    let machine = Machine::new();
    let transport = machine.process().await;
    leave(&transport, "a", blocked(), &[]).await;
    leave(&transport, "b", blocked(), &[]).await;
    let damage = "update nimbus_queue_session set state = '{' where session = 'a'";
    let stranger = Connection::open(machine.path()).expect("the file exists");
    stranger.execute(damage, ()).expect("it can be damaged");

    let directory = directory(&transport).await;
    let listed = directory.list(None, MANY).await.expect("readable");
    let states: Vec<_> = listed.iter().map(|found| found.state.is_some()).collect();
    assert_eq!(states, [false, true]);
    let looked = directory.look(&session("a")).await.expect("readable");
    assert_eq!(looked.state, None);
}

/// SUB-33: looking declares nothing.
#[tokio::test]
async fn an_endpoint_without_a_queue_is_unroutable() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let nobody = EndpointId::new("Nobody").expect("a name");
    let directory = transport.session_directory(&nobody).await;
    let directory = directory.expect("it answers").expect("it can list");
    for _ in 0..2 {
        let error = directory.list(None, MANY).await.expect_err("no queue");
        assert_eq!(error.kind(), TransportErrorKind::Unroutable);
    }
}
