//! The session store passes the suite; tables that are missing or damaged, a server that is gone.

#[path = "../server/mod.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod server;
#[path = "../inbox/support.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod support;
mod tables;
mod world;

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_postgres::{PostgresConnection, PostgresSessions};
use nimbus_inbox_testing::{Namespace, SessionStoreConformance};
use nimbus_messaging::TransportError;
use support::tests;

async fn open(ns: Namespace, endpoint: EndpointId) -> Result<PostgresSessions, TransportError> {
    let schema = server::Schema::of(&ns);
    let connection = PostgresConnection::parse(server::address()).expect("an address");
    let opened = PostgresSessions::open_with(connection, schema.options(), endpoint).await;
    Ok(opened.expect("nothing is connected yet"))
}

/// Several endpoints on the connections of one inbox.
async fn beside(ns: Namespace, endpoint: EndpointId) -> Result<PostgresSessions, TransportError> {
    let inbox = server::Schema::of(&ns).open().await;
    Ok(PostgresSessions::beside(&inbox, endpoint))
}

fn suite(suite: SessionStoreConformance) -> SessionStoreConformance {
    match server::find() {
        Ok(_) => suite,
        Err(reason) => suite.unavailable(reason),
    }
}

nimbus_inbox_testing::conformance!(suites:
    suite(SessionStoreConformance::new("postgres", open)),
    suite(SessionStoreConformance::new("beside", beside)),
    tests("tables", tables::TESTS),
);
