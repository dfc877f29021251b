//! What stands in the table for the person who looks into it.

use std::time::Duration;

use nimbus_inbox_core::{Cutoff, InboxStore, PurgeLimit, Recorded};
use nimbus_inbox_testing::key;

use crate::server::{Schema, stranger};
use crate::support::{Test, cases};

pub(crate) const TESTS: &[Test] = cases![
    ids_are_readable_and_an_id_with_nul_is_escaped,
    endpoints_that_look_alike_are_purged_apart,
];

/// INB-01: text can't hold a NUL, and no two ids may share a text.
async fn ids_are_readable_and_an_id_with_nul_is_escaped() {
    let schema = Schema::unique();
    let inbox = schema.open().await;
    let stranger = stranger().await;
    for (id, text) in [
        ("order-42", "order-42"),
        ("order-42 ", "order-42 "),
        ("a\0b", "a\\0b"),
        ("a\\0b", "a\\\\0b"),
        (
            "'; drop table inbox_messages; --",
            "'; drop table inbox_messages; --",
        ),
        ("\u{1f600} cafe\u{301}", "\u{1f600} cafe\u{301}"),
    ] {
        let one = key(id, id);
        let recorded = inbox.record(std::slice::from_ref(&one)).await;
        assert_eq!(recorded.expect("a record"), [Recorded::Now]);
        let row = stranger
            .query_one(
                &format!(
                    "select endpoint_id, message_id from {} where identity_hash = $1",
                    schema.table()
                ),
                &[&one.identity().as_bytes().as_slice()],
            )
            .await
            .expect("its row");
        assert_eq!(row.get::<_, &str>(0), text);
        assert_eq!(row.get::<_, &str>(1), text);
    }
}

/// INB-01, INB-23: the purge tells endpoints apart by their texts.
async fn endpoints_that_look_alike_are_purged_apart() {
    let schema = Schema::unique();
    let inbox = schema.open().await;
    let all = ["Billing\0", "Billing\\0", "Billing\\", "Billing", "billing"]
        .map(|endpoint| key(endpoint, "m"));
    inbox.record(&all).await.expect("records");
    for (number, purged) in all.iter().enumerate() {
        let everything = Cutoff::OlderThan(Duration::ZERO);
        let removed = inbox
            .purge(purged.endpoint(), everything, PurgeLimit::MAX)
            .await;
        assert_eq!(removed.expect("a purge"), 1);
        let left = inbox.check(&all).await.expect("a check");
        assert!(left[..=number].iter().all(Option::is_none));
        assert!(left[number + 1..].iter().all(Option::is_some));
    }
}
