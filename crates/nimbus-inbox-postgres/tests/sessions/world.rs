//! A session store in a schema of its own, and what its tests say in a word.

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_postgres::{PostgresConnection, PostgresInbox, PostgresSessions};
use nimbus_messaging::{
    Cas, Envelope, ParkedCopy, ParkedRef, SessionId, SessionStore, StateVersion,
};

use crate::server::{self, Schema};

pub(crate) struct Fixture {
    pub(crate) schema: Schema,
    pub(crate) inbox: PostgresInbox,
    pub(crate) sessions: PostgresSessions,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let schema = Schema::unique();
        let inbox = schema.open().await;
        let sessions = PostgresSessions::beside(&inbox, endpoint("Billing"));
        Self {
            schema,
            inbox,
            sessions,
        }
    }

    /// The same sessions, as another process sees them.
    pub(crate) async fn elsewhere(&self) -> PostgresSessions {
        let connection = PostgresConnection::parse(server::address()).expect("an address");
        let options = self.schema.options();
        PostgresSessions::open_with(connection, options, endpoint("Billing"))
            .await
            .expect("nothing is connected yet")
    }

    pub(crate) async fn version(&self) -> StateVersion {
        let read = self.sessions.read(&session("s")).await;
        read.expect("reads").version
    }
}

pub(crate) fn endpoint(name: &str) -> EndpointId {
    EndpointId::new(name).expect("usable")
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("not empty")
}

pub(crate) fn copy(sequence: i64, id: &str, body: &'static str) -> ParkedCopy {
    let envelope = Envelope {
        message_id: Some(id.to_owned()),
        body: body.into(),
        ..Envelope::default()
    };
    ParkedCopy {
        reference: ParkedRef {
            sequence,
            id: id.to_owned(),
            generation: 0,
        },
        envelope,
    }
}

pub(crate) fn written(cas: Cas) -> StateVersion {
    match cas {
        Cas::Written(version) => version,
        Cas::Conflict => panic!("a conflict where nobody else writes"),
    }
}
