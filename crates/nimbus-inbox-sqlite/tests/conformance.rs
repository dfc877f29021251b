//! SQLite passes the suite: alone, behind a store that delays every call, and behind the batching
//! decorator.

use std::time::Duration;

use nimbus_inbox_core::{Batching, Error};
use nimbus_inbox_sqlite::{SqliteInbox, SqliteInboxOptions};
use nimbus_inbox_testing::{FaultyStore, ManualClock, Namespace, StoreConformance};

const DELAY: Duration = Duration::from_millis(1);

/// Each call opens the file anew, as another process would.
async fn open(ns: Namespace, options: SqliteInboxOptions) -> Result<SqliteInbox, Error> {
    SqliteInbox::open_with(ns.directory().join("inbox.db"), options).await
}

nimbus_inbox_testing::conformance!(suites:
    StoreConformance::new("sqlite", |ns| open(ns, SqliteInboxOptions::default()))
        .with_client_clock(|ns, clock: ManualClock| {
            open(ns, SqliteInboxOptions::default().with_clock(clock))
        })
        .with_misconfigured(|ns| open(ns, SqliteInboxOptions::default().with_auto_create(false))),
    StoreConformance::new("delayed", |ns| async move {
        Ok(FaultyStore::delaying(open(ns, SqliteInboxOptions::default()).await?, DELAY))
    }),
    StoreConformance::new("batching", |ns| async move {
        Ok(Batching::new(open(ns, SqliteInboxOptions::default()).await?))
    }),
);
