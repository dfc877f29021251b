//! SQLite's session store passes the suite.

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_sqlite::{Database, OpenOptions, SqliteSessions};
use nimbus_inbox_testing::{Namespace, SessionStoreConformance};
use nimbus_messaging::TransportError;

/// Each call opens the file anew, as another process would.
async fn open(ns: Namespace, endpoint: EndpointId) -> Result<SqliteSessions, TransportError> {
    let database = Database::open(ns.directory().join("queue.db"), OpenOptions::default()).await;
    Ok(SqliteSessions::new(database.expect("a file"), endpoint))
}

nimbus_inbox_testing::conformance!(suites: SessionStoreConformance::new("sqlite", open));
