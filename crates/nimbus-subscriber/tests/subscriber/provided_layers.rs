//! The layers that come with the subscriber.

use std::time::Duration;

use nimbus_messaging::MessageType;
use nimbus_subscriber::{LoggingLayer, RetryPolicy, TimeoutLayer, ValidationLayer};

use crate::support::{ENDPOINT, EVENT_TYPE, Logs, OrderPlaced, World};

/// SUB-23, INB-12: a handler that takes too long is dropped and has failed with the type `timeout`;
/// nothing is recorded, and it is retried.
#[tokio::test(start_paused = true)]
async fn a_handler_past_its_limit_has_failed() {
    let world = World::new().await;
    world
        .script
        .next("a", async |_| std::future::pending().await);
    world.place("a").await;
    let policy = RetryPolicy::fixed(Duration::from_secs(5));
    let report = world
        .run_with(|builder| builder.retry(policy).timeout(Duration::from_secs(30)))
        .await;
    assert_eq!(world.lines(), ["ErrorResponse a", "ResolutionResponse a"]);
    let told = &world.told()[0];
    assert_eq!(told.error_type(), Some("timeout"));
    assert_eq!(
        told.error_text(),
        Some("the handler did not finish within 30s")
    );
    assert_eq!((report.failed, report.retries_scheduled), (1, 1));
    // The retry succeeded.
    assert_eq!(world.recorded(), ["m-a".to_owned(), told_retry(&world)]);
    world.assert_idle();
}

/// The message id of the retry that succeeded.
fn told_retry(world: &World) -> String {
    let resolved = &world.told()[1].headers;
    resolved.parent_message_id.clone().unwrap()
}

/// SUB-23: an event type can have a limit of its own, shorter or longer than the common one.
#[tokio::test(start_paused = true)]
async fn an_event_type_can_have_a_limit_of_its_own() {
    for (common, own, told) in [(5, 60, "ResolutionResponse a"), (60, 5, "ErrorResponse a")] {
        let world = World::new().await;
        world.script.next("a", async |_| {
            tokio::time::sleep(Duration::from_secs(30)).await;
            Ok(())
        });
        world.place("a").await;
        let limits = TimeoutLayer::new(Duration::from_secs(common))
            .with_event(EVENT_TYPE, Duration::from_secs(own));
        world.run_with(|builder| builder.layer(limits)).await;
        assert_eq!(world.lines(), [told]);
    }
}

/// SUB-23, SUB-22: an event that a rule refuses never reaches its handler: it is dead-lettered with the
/// rule's words, blocks nothing, and is not retried. Events of other types pass.
#[tokio::test(start_paused = true)]
async fn an_event_that_breaks_a_rule_is_dead_lettered() {
    let world = World::new().await;
    for order in ["a", "refused", "refused-raw", "b"] {
        world.place(order).await;
    }
    let rules = ValidationLayer::new()
        .with_event(EVENT_TYPE, |event: &OrderPlaced| {
            match event.order.as_str() {
                "refused" => Err("the order is closed"),
                _ => Ok(()),
            }
        })
        .with_json(EVENT_TYPE, |json| match json.contains("refused-raw") {
            true => Err("the raw order is closed"),
            false => Ok(()),
        })
        .with_json("AnotherType", |_| Err("it is refused"));
    let policy = RetryPolicy::fixed(Duration::from_secs(5));
    let report = world
        .run_with(|builder| builder.retry(policy).layer(rules))
        .await;
    assert_eq!(world.script.done(), ["a", "b"]);
    for (order, words) in [
        ("refused", "the order is closed"),
        ("refused-raw", "the raw order is closed"),
    ] {
        let told = &world.told_of(order)[0].headers;
        assert_eq!(told.message_type, MessageType::ErrorResponse);
        assert_eq!(told.dead_letter_reason.as_deref(), Some("InvalidEvent"));
        assert_eq!(told.dead_letter_error_description.as_deref(), Some(words));
    }
    assert_eq!(world.broker.dead_letters(ENDPOINT).len(), 2);
    assert_eq!((report.dead_lettered, report.failed), (2, 0));
    assert!(!world.state().is_blocked());
    assert_eq!(world.recorded(), ["m-a", "m-b"]);
}

/// SUB-23: an event that can't be read for a rule breaks it.
#[tokio::test(start_paused = true)]
async fn an_event_that_can_not_be_read_for_a_rule_breaks_it() {
    let world = World::new().await;
    world.place("a").await;
    let rules = ValidationLayer::new().with_event(EVENT_TYPE, |_: &u32| Ok::<_, String>(()));
    world.run_with(|builder| builder.layer(rules)).await;
    let told = &world.told()[0].headers;
    assert_eq!(told.dead_letter_reason.as_deref(), Some("InvalidEvent"));
    let description = told.dead_letter_error_description.clone();
    assert!(description.unwrap().contains("not a readable OrderPlaced"));
    assert_eq!(world.script.begun(), [""; 0]);
}

/// SUB-23: each run of a handler is logged at its start and its end, with how and after how long it
/// ended, also when it is dropped or panics; the payload and texts that may quote it never are.
#[tokio::test(start_paused = true)]
async fn runs_are_logged_without_the_payload() {
    let logs = Logs::capture();
    let world = World::new().await;
    let process = world.process();
    world.script.next("secret-2", async |_| {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Err(nimbus_subscriber::HandlerError::discard("secret-2 is no order").with_type("Orders"))
    });
    world
        .script
        .next("secret-3", async |_| panic!("a planned panic"));
    world
        .script
        .next("secret-4", async |_| std::future::pending().await);
    for number in 1..=4 {
        let event = World::event(&format!("secret-{number}"));
        let event = event.with_message_id(format!("m-{number}"));
        let event = event.with_event_id(format!("e-{number}").as_str());
        let session = format!("s-{number}");
        world
            .publish(event.with_session(&session).to(ENDPOINT))
            .await;
    }
    let builder = process.builder(&world).layer(LoggingLayer);
    let running = process.start(builder.drain_deadline(Duration::from_secs(5)));
    tokio::time::sleep(Duration::from_secs(30)).await;
    running.stop().await;

    assert_eq!(logs.lines("a handler begins").len(), 4);
    let ends = logs.lines("a handler ended");
    assert_eq!(ends.len(), 4, "{ends:?}");
    for (event, parts) in [
        ("e-1", &["INFO", "\"succeeded\"", "s-1"][..]),
        ("e-2", &["WARN", "\"failed\"", "2s", "Orders", "Discard"]),
        ("e-3", &["WARN", "\"panicked\""]),
        ("e-4", &["WARN", "\"dropped\"", "35s"]),
    ] {
        let line = ends.iter().find(|line| line.contains(event)).unwrap();
        // Its own fields: those of the span around it are not there for everyone.
        let (level, fields) = line.split_once("a handler ended").unwrap();
        assert!(level.contains(parts[0]), "{line}");
        for part in parts[1..].iter().chain(&[event, EVENT_TYPE, ENDPOINT]) {
            assert!(fields.contains(part), "{part} is not in {fields}");
        }
    }
    for line in logs.lines("a handler") {
        assert!(!line.contains("secret"), "{line}");
    }
}
