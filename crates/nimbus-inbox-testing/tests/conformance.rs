//! The store in memory passes the suite: alone, behind a store that delays every call, and behind
//! the batching decorator.

use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::Batching;
use nimbus_inbox_testing::{FaultyStore, InMemoryInbox, ManualClock, StoreConformance};

const DELAY: Duration = Duration::from_millis(1);

nimbus_inbox_testing::conformance!(suites:
    StoreConformance::new("in_memory", |ns| async move { Ok(ns.shared(InMemoryInbox::new)) })
        .with_client_clock(|ns, clock: ManualClock| async move {
            Ok(ns.shared(|| InMemoryInbox::with_clock(clock)))
        }),
    StoreConformance::new("delayed", |ns| async move {
        Ok(FaultyStore::delaying(ns.shared(InMemoryInbox::new), DELAY))
    }),
    // Only calls that take time meet in one batch.
    StoreConformance::new("batching", |ns| async move {
        Ok(ns.shared(|| {
            let delayed = FaultyStore::delaying(InMemoryInbox::new(), DELAY);
            Arc::new(Batching::new(delayed))
        }))
    }),
);
