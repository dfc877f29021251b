//! What stands in the table for the person who looks into it.

use nimbus_inbox_core::{Cutoff, InboxStore, PurgeLimit, Recorded};
use nimbus_inbox_testing::{ManualClock, key};

use crate::support::Fixture;
use nimbus_inbox_sqlite::SqliteInboxOptions;

/// INB-01: also in the columns that identify nothing, every byte is kept.
#[tokio::test]
async fn endpoint_and_message_id_are_kept_byte_by_byte() {
    let fixture = Fixture::new().await;
    let texts = [
        "order-42",
        "order-42 ",
        "\u{0}",
        "a\u{0}b",
        "a\u{0}",
        "\u{feff}x",
        "\u{ffff}",
        "\u{fffe}\u{fffd}",
        "cafe\u{301}",
        "\u{1f600}",
        "'; drop table nimbus_inbox; --",
    ];
    let longest = "\u{1f600}".repeat(130);
    let texts: Vec<&str> = texts.into_iter().chain([longest.as_str()]).collect();
    let all: Vec<_> = texts.iter().map(|text| key(text, text)).collect();
    let outcome = fixture.inbox.record(&all).await.expect("records");
    assert!(outcome.iter().all(|recorded| *recorded == Recorded::Now));

    let stranger = fixture.stranger();
    for key in &all {
        let (endpoint, id): (String, String) = stranger
            .query_row(
                "select endpoint_id, message_id from nimbus_inbox where identity_hash = ?1",
                [key.identity().as_bytes()],
                |row| Ok((row.get(0)?, row.get(1)?)),
            )
            .expect("its row");
        assert_eq!(endpoint, key.endpoint().as_str());
        assert_eq!(id, key.message_id().as_str());
    }
}

/// INB-21: the time is kept to the 100 nanoseconds of the core's resolution.
#[tokio::test]
async fn the_creation_time_is_kept_exactly() {
    let clock = ManualClock::at(nimbus_inbox_core::Timestamp::from_unix_ticks(
        17_000_000_000_000_001,
    ));
    let options = SqliteInboxOptions::default().with_clock(clock.clone());
    let fixture = Fixture::with(options).await;
    let one = [key("Billing", "order-1")];
    fixture.inbox.record(&one).await.expect("a record");
    let created = fixture.inbox.check(&one).await.expect("a check")[0].expect("it is there");
    assert_eq!(created.to_string(), "2023-11-14T22:13:20.0000001Z");

    // Strictly older, by one tick.
    clock.set(nimbus_inbox_core::Timestamp::from_unix_ticks(
        17_000_000_000_000_002,
    ));
    let billing = one[0].endpoint();
    for (cutoff, removed) in [(created, 0), (nimbus_inbox_core::Clock::now(&clock), 1)] {
        let purged = fixture
            .inbox
            .purge(billing, Cutoff::Before(cutoff), PurgeLimit::default())
            .await;
        assert_eq!(purged.expect("a purge"), removed);
    }
}
