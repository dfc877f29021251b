//! How much a file holds of an endpoint.

use std::time::Duration;

use nimbus_inbox_core::{Clock, EndpointId, InboxStore, InboxStoreExt, StoreStats, Timestamp};
use nimbus_inbox_sqlite::SqliteInboxOptions;
use nimbus_inbox_testing::{ManualClock, key};

use crate::support::{Fixture, keys};

/// INB-22: records are counted by endpoint, with the instants of the oldest and the newest.
#[tokio::test]
async fn records_are_counted_by_endpoint() {
    let clock = ManualClock::at(Timestamp::from_unix_ticks(1_000));
    let options = SqliteInboxOptions::default().with_clock(clock.clone());
    let fixture = Fixture::with(options).await;
    let billing = EndpointId::new("Billing").expect("a name");
    let stats = async || fixture.inbox.stats(&billing).await.expect("it answers");
    assert_eq!(stats().await, Some(StoreStats::default()));

    let first = clock.now();
    fixture.inbox.record(&keys("a", 3)).await.expect("recorded");
    clock.advance(Duration::from_secs(5));
    let elsewhere = key("Shipping", "a-0");
    fixture
        .inbox
        .record_one(&elsewhere)
        .await
        .expect("recorded");
    fixture.inbox.record(&keys("b", 1)).await.expect("recorded");
    let last = first.saturating_add(Duration::from_secs(5));
    let counted = StoreStats::new(4, Some(first), Some(last));
    assert_eq!(stats().await, Some(counted));
}
