//! A page limit stands in for a volume that is full: SQLite reports both alike.

use std::num::NonZeroU32;

use nimbus_inbox_core::{Inbox, InboxStore, InboxStoreExt, Recorded};
use nimbus_inbox_sqlite::SqliteInboxOptions;
use nimbus_inbox_testing::key;

use crate::support::{Fixture, keys, recorded, told};

fn small() -> SqliteInboxOptions {
    SqliteInboxOptions::default().with_max_pages(NonZeroU32::new(24).expect("not zero"))
}

/// INB-25, INB-26: the record that doesn't fit is absent as a whole, those before are there.
#[tokio::test]
async fn a_full_disk_is_a_clear_error_and_loses_no_record() {
    let fixture = Fixture::with(small()).await;
    let mut kept = Vec::new();
    let (refused, text) = loop {
        let batch = keys(&format!("batch-{}", kept.len()), 10);
        match fixture.inbox.record(&batch).await {
            Ok(outcome) => {
                assert_eq!(outcome, [Recorded::Now; 10]);
                kept.extend(batch);
            }
            refusal => break (batch, told(refusal)),
        }
        assert!(kept.len() < 10_000, "the file has no bound");
    };
    assert!(
        text.contains("full") && text.contains("free space"),
        "{text}"
    );
    assert!(!kept.is_empty());
    assert_eq!(recorded(&fixture.inbox, &kept).await, kept.len());
    assert_eq!(recorded(&fixture.inbox, &refused).await, 0);
    let again = fixture.inbox.record(&kept).await.expect("nothing to write");
    assert!(again.iter().all(|recorded| *recorded == Recorded::Already));

    fixture.inbox.database().close().await;
    let roomy = fixture.elsewhere().await;
    assert_eq!(recorded(&roomy, &kept).await, kept.len());
    let outcome = roomy.record(&refused).await.expect("room was made");
    assert_eq!(outcome, [Recorded::Now; 10]);
}

/// INB-41: nor does a handler's effect stay that could not be recorded.
#[tokio::test]
async fn a_transaction_that_fills_the_disk_leaves_neither_effect_nor_record() {
    let fixture = Fixture::with(small()).await;
    let database = fixture.inbox.database().clone();
    database
        .write(|tx| tx.execute_batch("create table effect (payload blob) strict"))
        .await
        .expect("there is room");
    let inbox = Inbox::new("Billing", fixture.inbox.clone()).expect("usable");
    let outcome = inbox
        .process_in(&database, "order-1", async |tx| {
            // A handler that passes over the error must not commit the rest.
            let _ = tx
                .call(|tx| tx.execute("insert into effect values (zeroblob(4000000))", ()))
                .await;
            anyhow::Ok(())
        })
        .await;
    outcome.expect_err("the transaction is over");
    let one = key("Billing", "order-1");
    assert_eq!(fixture.inbox.check_one(&one).await.expect("a check"), None);
    inbox
        .process_in(&database, "order-1", async |tx| {
            tx.call(|tx| tx.execute("insert into effect values (x'00')", ()))
                .await?;
            anyhow::Ok(())
        })
        .await
        .expect("a small one fits");
    assert!(
        fixture
            .inbox
            .check_one(&one)
            .await
            .expect("a check")
            .is_some()
    );
}
