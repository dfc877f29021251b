//! What may be absent, unusable or alike in the identities of a message.

use std::time::Duration;

use nimbus_inbox_core::InboxSetup;
use nimbus_inbox_testing::CountingStore;
use nimbus_messaging::{Envelope, Headers, property};
use nimbus_subscriber::RetryPolicy;

use crate::support::{ENDPOINT, Logs, World};

fn with_id(id: Option<&str>) -> Envelope {
    let mut message = World::event("a").with_session("s").to(ENDPOINT);
    message.message_id = id.map(str::to_owned);
    message
}

/// INB-03, SUB-05: a message whose id is missing, blank or longer than 512 UTF-16 code units runs,
/// completes and is answered; no store is touched, and a warning gives the lengths.
#[tokio::test(start_paused = true)]
async fn a_message_without_a_usable_id_runs_without_the_inbox() {
    let long = "x".repeat(513);
    let astral = "😀".repeat(257);
    let huge = "x".repeat(100_000);
    for (id, warning) in [
        (None, "missing"),
        (Some(""), "missing"),
        (Some(" \u{2003}\t"), "blank (3 UTF-16 code units"),
        (
            Some(long.as_str()),
            "too long (513 UTF-16 code units, the limit is 512",
        ),
        (Some(astral.as_str()), "too long (514 UTF-16 code units"),
        (Some(huge.as_str()), "too long (100000 UTF-16 code units"),
    ] {
        let logs = Logs::capture();
        let world = World::new().await;
        world.publish(with_id(id)).await;
        world.publish(with_id(id)).await;
        let store = CountingStore::new(world.inbox.clone());
        let process = world.process();
        let builder = process.builder_without_inbox(&world);
        let running = process.start(builder.inbox(InboxSetup::new(store.clone())));
        tokio::time::sleep(Duration::from_secs(1)).await;
        running.stop().await;

        assert_eq!(world.script.done(), ["a", "a"], "{warning}");
        assert_eq!(
            world.lines(),
            ["ResolutionResponse a", "ResolutionResponse a"]
        );
        let counts = store.counts();
        assert_eq!(
            (counts.check.calls, counts.record.calls),
            (0, 0),
            "{warning}"
        );
        assert_eq!(logs.lines("can't be deduplicated").len(), 2, "{warning}");
        assert_eq!(logs.lines(warning).len(), 2, "{warning}");
        world.assert_idle();
    }
}

/// INB-03: 512 code units are usable.
#[tokio::test(start_paused = true)]
async fn the_longest_usable_id_is_deduplicated() {
    let id = "😀".repeat(256);
    let world = World::new().await;
    world.publish(with_id(Some(&id))).await;
    world.publish(with_id(Some(&id))).await;
    world.run().await;
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.recorded(), [id]);
}

/// INB-01: ids are byte-exact: what differs by case, white space or normalisation is another
/// message.
#[tokio::test(start_paused = true)]
async fn ids_that_look_alike_are_different_messages() {
    let world = World::new().await;
    let ids = [
        "order-é",
        "order-e\u{301}",
        "ORDER-é",
        "order-é ",
        " order-é",
        "order-é\0",
    ];
    for id in ids {
        world.publish(with_id(Some(id))).await;
    }
    world.run().await;
    assert_eq!(world.script.done().len(), ids.len());
    assert_eq!(world.recorded(), ids);
}

/// SUB-05: a message with nothing but a type and a body runs, completes and gets its response.
#[tokio::test(start_paused = true)]
async fn a_bare_message_runs_and_is_answered() {
    let world = World::new().await;
    let mut bare = Envelope {
        body: World::event("a").to(ENDPOINT).body,
        ..Envelope::default()
    };
    bare.properties.set(property::MESSAGE_TYPE, "EventRequest");
    world.publish(bare).await;
    world.run().await;
    assert_eq!(world.script.done(), ["a"]);
    let told = world.told().remove(0);
    assert_eq!(told.headers.message_type.as_str(), "ResolutionResponse");
    assert_eq!(told.headers.event_type_id.as_deref(), Some("OrderPlaced"));
    assert_eq!(told.headers.correlation_id, None);
    world.assert_idle();
}

/// SUB-05, SUB-10: without an event id the message id names the event, so a failure still blocks
/// and its retry still unblocks; without either, a random one does.
#[tokio::test(start_paused = true)]
async fn a_failing_message_without_an_event_id_blocks_and_is_retried() {
    for id in [Some("m-a"), None] {
        let world = World::new().await;
        world.script.fail("a", 1);
        let mut message = with_id(id);
        message.properties.remove(property::EVENT_ID);
        world.publish(message).await;
        world.place("b").await;
        let running =
            world.start_with(|builder| builder.retry(RetryPolicy::fixed(Duration::from_secs(5))));
        tokio::time::sleep(Duration::from_secs(1)).await;
        let blocking = world.state().blocked_by_event_id;
        if let Some(id) = id {
            assert_eq!(blocking, Some(id.into()));
        }
        let retry = Headers::read(&world.broker.scheduled(ENDPOINT)[0].1).unwrap();
        assert_eq!(retry.event_id, blocking);
        assert_eq!(retry.inbox_message_id.as_deref(), id);
        assert!(retry.message_id.is_some_and(|id| id.len() <= 64));
        world.settle().await;
        running.stop().await;
        assert_eq!(world.script.done(), ["a", "b"]);
        assert!(!world.state().is_blocked());
        world.assert_idle();
    }
}

/// SUB-34: ids of 600 characters make stand-ins with short ids of their own.
#[tokio::test(start_paused = true)]
async fn long_ids_make_short_stand_ins() {
    let world = World::new().await;
    world.script.fail("a", 2);
    world.publish(with_id(Some(&"x".repeat(600)))).await;
    world
        .run_with(|builder| builder.retry(RetryPolicy::fixed(Duration::from_secs(5))))
        .await;
    assert_eq!(world.script.done(), ["a"]);
    assert!(world.recorded().iter().all(|id| id.len() <= 64));
    world.assert_idle();
}

/// INB-19: messages of one causal chain share their originating id and are not each other's
/// duplicates; the id is never recorded.
#[tokio::test(start_paused = true)]
async fn the_originating_id_deduplicates_nothing() {
    let world = World::new().await;
    world.record("m-0").await;
    for order in ["a", "b"] {
        let message = World::event(order).with_session("s");
        let message = message.with_headers(|h| h.originating_message_id = Some("m-0".to_owned()));
        world.publish(message.to(ENDPOINT)).await;
    }
    world.run().await;
    assert_eq!(world.script.done(), ["a", "b"]);
    assert_eq!(world.recorded(), ["m-0", "m-a", "m-b"]);
}

/// SUB-06: one id reused across two event types is one delivery: the key is the endpoint's, not the
/// type's. INB-04: nor is it the address that the message carries.
#[tokio::test(start_paused = true)]
async fn the_key_is_the_configured_endpoint_and_the_message_id() {
    let world = World::new().await;
    let first = World::event("a")
        .with_session("s")
        .with_headers(|h| h.to = Some("OrderPlaced".into()));
    let mut first = first.to("OrderPlaced");
    first.properties.set(property::TO, "OrderPlaced");
    world.publish(first).await;
    let second = World::event("a")
        .with_session("s")
        .with_headers(|h| h.event_type_id = Some("OrderPaid".to_owned()));
    world.publish(second.to("OrderPaid")).await;
    let script = world.script.clone();
    world
        .run_with(|builder| {
            builder.handle_with(script, "OrderPaid", async |script, event, context| {
                crate::support::Script::play(script, event, context).await
            })
        })
        .await;
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.lines(), ["ResolutionResponse a", "SkipResponse a"]);
    assert_eq!(world.recorded(), ["m-a"]);
}
