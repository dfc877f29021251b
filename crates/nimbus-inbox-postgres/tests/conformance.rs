//! PostgreSQL passes the suite: with shared calls, with one of its own for each, behind a store
//! that delays every call, and on a database whose settings are as unusual as they can be.

#[path = "server/mod.rs"]
#[allow(dead_code, reason = "shared with other targets")]
mod server;

use std::time::Duration;

use nimbus_inbox_core::Error;
use nimbus_inbox_postgres::{PostgresInbox, PostgresInboxOptions};
use nimbus_inbox_testing::{FaultyStore, ManualClock, Namespace, StoreConformance};

const DELAY: Duration = Duration::from_millis(1);

/// A time zone with odd minutes, no transaction that other programs would expect, no durability
/// to wait for.
const UNUSUAL: &str = "-c timezone=Asia/Kathmandu -c datestyle=SQL,DMY -c intervalstyle=sql_standard \
                       -c bytea_output=escape -c standard_conforming_strings=off \
                       -c search_path=pg_catalog -c idle_in_transaction_session_timeout=20s";

/// Each call opens the database anew, as another process would.
async fn open(
    ns: Namespace,
    change: impl FnOnce(PostgresInboxOptions) -> PostgresInboxOptions,
) -> Result<PostgresInbox, Error> {
    let schema = server::Schema::of(&ns);
    Ok(schema.open_with(change(schema.options())).await)
}

async fn open_unusual(ns: Namespace) -> Result<PostgresInbox, Error> {
    let schema = server::Schema::of(&ns);
    Ok(schema.open_set(UNUSUAL, schema.options()).await)
}

fn suite(suite: StoreConformance) -> StoreConformance {
    match server::find() {
        Ok(_) => suite,
        Err(reason) => suite.unavailable(reason),
    }
}

nimbus_inbox_testing::conformance!(suites:
    suite(
        StoreConformance::new("postgres", |ns| open(ns, |options| options))
            .with_client_clock(|ns, _: ManualClock| open(ns, |options| options))
            .with_misconfigured(|ns| open(ns, |options| options.with_auto_create(false)))
    ),
    suite(StoreConformance::new("single", |ns| open(ns, |options| options.with_batching(None)))),
    suite(StoreConformance::new("delayed", |ns| async move {
        Ok(FaultyStore::delaying(open(ns, |options| options).await?, DELAY))
    })),
    suite(StoreConformance::new("unusual", open_unusual)),
);
