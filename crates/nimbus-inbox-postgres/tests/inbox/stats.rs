//! How much a table holds of an endpoint.

use nimbus_inbox_core::{InboxStore, StoreStats};
use nimbus_inbox_testing::key;

use crate::server::Schema;
use crate::support::{Test, cases, keys, told};

pub(crate) const TESTS: &[Test] = cases![
    records_are_counted_by_endpoint,
    a_table_that_is_gone_is_told,
];

/// INB-22: records are counted by endpoint, with the instants of the oldest and the newest, also
/// where the column writes an endpoint otherwise.
async fn records_are_counted_by_endpoint() {
    for batching in [true, false] {
        let schema = Schema::unique();
        let mut options = schema.options();
        if !batching {
            options = options.with_batching(None);
        }
        let inbox = schema.open_with(options).await;
        let billing = key("Billing", "a-0").endpoint().clone();
        let nobody = inbox.stats(&billing).await.expect("it answers");
        assert_eq!(nobody, Some(StoreStats::default()));

        let first = keys("a", 3);
        inbox.record(&first).await.expect("recorded");
        let elsewhere = key("Billing\\\0", "a-0");
        let others = [key("Shipping", "a-0"), elsewhere.clone()];
        inbox.record(&others).await.expect("recorded");
        let last = keys("b", 1);
        inbox.record(&last).await.expect("recorded");

        for (endpoint, count, oldest, newest) in [
            (&billing, 4, &first[0], &last[0]),
            (elsewhere.endpoint(), 1, &elsewhere, &elsewhere),
        ] {
            let ends = inbox.check(&[oldest.clone(), newest.clone()]).await;
            let ends = ends.expect("it answers");
            let counted = inbox.stats(endpoint).await.expect("it answers");
            assert_eq!(counted, Some(StoreStats::new(count, ends[0], ends[1])));
        }
    }
}

/// INB-26: a count that can't be made is told as a check is.
async fn a_table_that_is_gone_is_told() {
    let schema = Schema::unique();
    let inbox = schema
        .open_with(schema.options().with_auto_create(false))
        .await;
    let endpoint = key("Billing", "a-0").endpoint().clone();
    let text = told(
        nimbus_inbox_core::ErrorKind::Configuration,
        inbox.stats(&endpoint).await,
    );
    assert!(text.contains("cargo xtask provision"), "{text}");
}
