//! What becomes of events whose handler did not succeed.

use std::time::Duration;

use nimbus_inbox_testing::BrokerOperation;
use nimbus_messaging::{Envelope, Headers, MessageType};
use nimbus_subscriber::{FailureClass, FailureClassifier, HandlerContext, HandlerError};

use crate::support::{Disturb, ENDPOINT, EVENT_TYPE, Journal, OrderPlaced, World};

fn ways_to_fail(world: &World) -> Vec<&'static str> {
    let script = &world.script;
    script.next("retry", async |_| Err(HandlerError::retry("no stock")));
    script.next("any error", async |_| {
        Err(std::io::Error::other("disk").into())
    });
    script.next("dead-letter", async |_| {
        Err(HandlerError::dead_letter("never"))
    });
    script.next("discard", async |_| Err(HandlerError::discard("too late")));
    script.next("transient", async |_| {
        Err(HandlerError::transient("no network"))
    });
    script.next("panic", async |_| panic!("a planned panic"));
    vec![
        "retry",
        "any error",
        "dead-letter",
        "discard",
        "transient",
        "panic",
    ]
}

/// INB-12: no kind of failure is recorded, and none ends the process.
#[tokio::test(start_paused = true)]
async fn no_failure_is_recorded() {
    let world = World::new().await;
    let orders = ways_to_fail(&world);
    for order in &orders {
        world.place_in(order, order).await;
    }
    let running = world.start();
    tokio::time::sleep(Duration::from_millis(50)).await;
    assert_eq!(world.script.begun().len(), orders.len());
    assert_eq!(world.recorded(), [""; 0]);
    world.place_in("later", "later").await;
    world.settle().await;
    running.stop().await;
    // The transient one was left for redelivery, and its second run succeeded.
    assert_eq!(world.recorded(), ["m-later", "m-transient"]);
    assert_eq!(
        world
            .told_of("transient")
            .iter()
            .map(crate::support::Told::line)
            .collect::<Vec<_>>(),
        ["ResolutionResponse transient"],
        "SUB-21: a transient failure reports nothing"
    );
}

fn panics_at_once(
    _: OrderPlaced,
    _: HandlerContext,
) -> std::future::Ready<Result<(), HandlerError>> {
    panic!("a planned panic")
}

struct Unreadable;

impl<'de> serde::Deserialize<'de> for Unreadable {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        panic!("a planned panic")
    }
}

/// INB-12: a panic is a failure of the message wherever the application's code panics: in the
/// handler, before its future exists, and while its event is read.
#[tokio::test(start_paused = true)]
async fn every_panic_is_a_failure_of_the_message() {
    let world = World::new().await;
    world
        .script
        .next("a", async |_| panic!("a planned {}", "panic"));
    world.place_in("1", "a").await;
    for (session, event_type) in [("2", "AtOnce"), ("3", "InReading")] {
        let message = World::event("a")
            .with_session(session)
            .with_event_id(event_type);
        let message = message.with_headers(|h| h.event_type_id = Some(event_type.to_owned()));
        world.publish(message.to(ENDPOINT)).await;
    }
    let report = world
        .run_with(|builder| {
            builder
                .handle("AtOnce", panics_at_once)
                .handle("InReading", async |_: Unreadable, _| Ok(()))
        })
        .await;
    assert_eq!(
        world.lines(),
        [
            "ErrorResponse a",
            "ErrorResponse AtOnce",
            "ErrorResponse InReading"
        ]
    );
    for told in world.told() {
        assert_eq!(told.error_type(), Some("panic"));
        assert_eq!(told.error_text(), Some("a planned panic"));
    }
    assert_eq!((report.failed, report.received), (3, 3));
    assert_eq!(world.recorded(), [""; 0]);
    world.assert_idle();
}

/// SUB-21, SUB-24: a discarded event is reported as skipped, with the reason and the classifier,
/// and never blocks.
#[tokio::test(start_paused = true)]
async fn a_discarded_event_is_skipped_and_does_not_block() {
    let world = World::new().await;
    world.script.next("a", async |_| {
        Err(HandlerError::discard("too late").with_type("Expired"))
    });
    world.place("a").await;
    world.place("b").await;
    let report = world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a", "ResolutionResponse b"]);
    assert_eq!(
        world.told()[0].error_text(),
        Some("Expired: too late Classified as Discard by the handler.")
    );
    assert!(!world.is_recorded("m-a"));
    assert_eq!(report.discarded, 1);
    world.assert_idle();
}

struct ByText(&'static str, FailureClass);

impl FailureClassifier for ByText {
    fn name(&self) -> &'static str {
        self.0
    }

    fn classify(&self, event_type: &str, error: &HandlerError) -> Option<FailureClass> {
        assert_eq!(event_type, EVENT_TYPE);
        error.text().contains(self.0).then_some(self.1)
    }
}

/// SUB-21: classifiers judge in order what the handler left open; what it chose itself stands; what
/// nobody has an opinion on is retried.
#[tokio::test(start_paused = true)]
async fn the_first_classifier_with_an_opinion_counts() {
    let world = World::new().await;
    let script = &world.script;
    script.next("late", async |_| {
        Err(HandlerError::new("too late, and broken"))
    });
    script.next("broken", async |_| Err(HandlerError::new("broken")));
    script.next("chosen", async |_| {
        Err(HandlerError::dead_letter("too late"))
    });
    script.next("open", async |_| Err(HandlerError::new("no stock")));
    for order in ["late", "broken", "chosen", "open"] {
        world.place_in(order, order).await;
    }
    world
        .run_with(|builder| {
            builder
                .classifier(ByText("too late", FailureClass::Discard))
                .classifier(ByText("broken", FailureClass::DeadLetter))
        })
        .await;
    assert_eq!(
        world.lines(),
        [
            "SkipResponse late",
            "ErrorResponse broken",
            "ErrorResponse chosen",
            "ErrorResponse open"
        ]
    );
    let text = world.told()[0].error_text().unwrap().to_owned();
    assert!(
        text.ends_with("Classified as Discard by too late."),
        "{text}"
    );
    let dead: Vec<_> = world
        .broker
        .dead_letters(ENDPOINT)
        .into_iter()
        .filter_map(|dead| dead.envelope.message_id)
        .collect();
    assert_eq!(dead, ["m-broken", "m-chosen"]);
    let blocked = |name| {
        let session = crate::support::session(name);
        world.broker.session_state(ENDPOINT, &session).is_blocked()
    };
    assert!(blocked("open") && !blocked("late") && !blocked("broken") && !blocked("chosen"));
}

/// SUB-21: an event that no handler takes is answered and completed.
#[tokio::test(start_paused = true)]
async fn an_event_without_a_handler_is_unsupported() {
    let world = World::new().await;
    let message = World::event("a").with_session("s");
    let message = message.with_headers(|h| h.event_type_id = Some("OrderLost".to_owned()));
    world.publish(message.to(ENDPOINT)).await;
    world.place("b").await;
    let report = world.run().await;
    assert_eq!(
        world.lines(),
        ["UnsupportedResponse a", "ResolutionResponse b"]
    );
    assert!(world.told()[0].error_text().unwrap().contains("OrderLost"));
    assert_eq!(report.unsupported, 1);
    assert!(!world.is_recorded("m-a"));
    world.assert_idle();
}

/// SUB-09: an UnsupportedResponse that comes back is handled like the event it is about.
#[tokio::test(start_paused = true)]
async fn an_unsupported_response_that_comes_back_is_handled() {
    let world = World::new().await;
    let message = World::event("a").with_session("s");
    let message = message.with_headers(|h| h.message_type = MessageType::UnsupportedResponse);
    world.publish(message.to(ENDPOINT)).await;
    world.run().await;
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.recorded(), ["m-a"]);
    world.assert_idle();
}

/// SUB-22, SUB-24: dead-lettering tells the resolver first, with reason and description cut to
/// 4,096 characters on a character boundary, and keeps the event.
#[tokio::test(start_paused = true)]
async fn a_dead_letter_is_told_first_and_cut() {
    let world = World::new().await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    world.script.next("a", async |_| {
        Err(HandlerError::dead_letter("ä€😀".repeat(5_000)))
    });
    world.place("a").await;
    let running = process.start(process.builder(&world));
    world.settle().await;
    running.stop().await;

    let notes = journal.since("check");
    assert_eq!(
        notes[..4],
        ["check", "fence", "send ErrorResponse", "dead-letter"]
    );
    let told = &world.told()[0];
    let description = told
        .headers
        .dead_letter_error_description
        .as_deref()
        .unwrap();
    assert_eq!(description.chars().count(), 4_096);
    assert_eq!(
        told.headers.dead_letter_reason.as_deref(),
        Some("HandlerFailed")
    );
    assert_eq!(told.event_json(), Some(r#"{"order":"a"}"#));
    let dead = world.broker.dead_letters(ENDPOINT);
    assert_eq!(dead[0].reason, "HandlerFailed");
    assert_eq!(dead[0].description, description);
    assert!(description.starts_with("HandlerError: ä€😀"));
}

/// SUB-22: a resolver that can't be reached does not keep a message from being set aside.
#[tokio::test(start_paused = true)]
async fn a_dead_letter_does_not_wait_for_the_resolver() {
    let world = World::new().await;
    world
        .script
        .next("a", async |_| Err(HandlerError::dead_letter("never")));
    world.place("a").await;
    let fault = Disturb::calls(BrokerOperation::Send).of_type(MessageType::ErrorResponse);
    world.broker.add_hook(fault);
    let report = world.run().await;
    assert_eq!(world.broker.dead_letters(ENDPOINT).len(), 1);
    assert_eq!(world.lines(), [""; 0]);
    assert_eq!((report.dead_lettered, report.abandoned), (1, 0));
}

/// SUB-22: no text of a failure outgrows a message, on the first attempt, a retry or a discard.
#[tokio::test(start_paused = true)]
async fn long_error_texts_are_cut() {
    let world = World::new().await;
    let long = || HandlerError::new("x".repeat(1_000_000));
    world.script.next("a", async move |_| Err(long()));
    world.script.next("a", async move |_| Err(long()));
    world.script.next("a", async move |_| {
        Err(long().with_class(FailureClass::Discard))
    });
    world.place("a").await;
    let policy = nimbus_subscriber::RetryPolicy::fixed(Duration::from_secs(1));
    world.run_with(|builder| builder.retry(policy)).await;
    let told = world.told();
    assert_eq!(
        world.lines(),
        ["ErrorResponse a", "ErrorResponse a", "SkipResponse a"]
    );
    for told in told {
        assert!(told.error_text().unwrap().len() < 5_000);
    }
}

/// SUB-24: an outcome copies the identities of its message, and says how long it waited and ran.
#[tokio::test(start_paused = true)]
async fn an_outcome_copies_identities_and_timings() {
    let world = World::new().await;
    let message = World::event("a").with_session("s").with_headers(|headers| {
        headers.correlation_id = Some("c-1".to_owned());
        headers.originating_message_id = Some("m-0".to_owned());
        headers.originating_from = Some("ShopEndpoint".to_owned());
        headers.parent_message_id = Some("m-00".to_owned());
        headers.retry_count = Some(0);
        headers.retry_limit = Some(4);
        headers.trace.parent =
            Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned());
    });
    world.publish(message.to(ENDPOINT)).await;
    tokio::time::sleep(Duration::from_secs(7)).await;
    world.script.next("a", async |_| {
        tokio::time::sleep(Duration::from_secs(3)).await;
        Ok(())
    });
    world.run().await;
    let told = world.told().remove(0);
    let headers = told.headers;
    assert_eq!(headers.correlation_id.as_deref(), Some("c-1"));
    assert_eq!(headers.original_session_id.as_deref(), Some("s"));
    assert_eq!(headers.event_id, Some("a".into()));
    assert_eq!(headers.event_type_id.as_deref(), Some(EVENT_TYPE));
    assert_eq!(headers.originating_message_id.as_deref(), Some("m-0"));
    assert_eq!(headers.originating_from.as_deref(), Some("ShopEndpoint"));
    assert_eq!(headers.parent_message_id.as_deref(), Some("m-a"));
    assert_eq!(
        (headers.retry_count, headers.retry_limit),
        (Some(0), Some(4))
    );
    assert_eq!(headers.queue_time_ms, Some(7_000));
    assert_eq!(headers.processing_time_ms, Some(3_000));
    assert!(headers.trace.parent.is_some());
    assert_eq!(headers.from, Some(ENDPOINT.into()));
    assert_eq!(
        told.content.event_content.unwrap().event_json.as_deref(),
        Some(r#"{"order":"a"}"#)
    );
}

/// SUB-10, SUB-24: an outcome says what kind of message it is about, and a failure when the event is
/// tried again: without that, it waits for an operator.
#[tokio::test(start_paused = true)]
async fn a_failure_says_whether_a_retry_follows() {
    let world = World::new().await;
    world.script.fail("a", 2);
    world.place_in("s", "a").await;
    let policy = nimbus_subscriber::RetryPolicy::fixed(Duration::from_secs(5)).max_retries(1);
    world.run_with(|builder| builder.retry(policy)).await;
    let told = world.told_of("a");
    let said: Vec<_> = told
        .iter()
        .map(|told| {
            let headers = &told.headers;
            (headers.parent_message_type, headers.next_retry_at.is_some())
        })
        .collect();
    assert_eq!(
        said,
        [
            (Some(MessageType::EventRequest), true),
            (Some(MessageType::RetryRequest), false)
        ]
    );
}

/// SUB-34: every message that the subscriber sends has an id of its own.
#[tokio::test(start_paused = true)]
async fn every_message_sent_has_an_id_of_its_own() {
    let world = World::new().await;
    world.script.fail("a", 1);
    world.place("a").await;
    world.place("b").await;
    world.place("b").await;
    let policy = nimbus_subscriber::RetryPolicy::fixed(Duration::from_secs(1));
    world.run_with(|builder| builder.retry(policy)).await;
    let mut ids: Vec<_> = sent(&world)
        .into_iter()
        .filter_map(|sent| sent.message_id)
        .collect();
    let count = ids.len();
    assert_eq!(count, sent(&world).len(), "a message without an id");
    assert!(ids.iter().all(|id| id.len() <= 64 && id.is_ascii()));
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
    assert!(count >= 8, "{count}");
}

fn sent(world: &World) -> Vec<Envelope> {
    let log = world.broker.log();
    let calls = log.iter().filter(|logged| {
        matches!(
            logged.call.operation,
            BrokerOperation::Send | BrokerOperation::Schedule
        )
    });
    let messages = calls.flat_map(|logged| logged.call.messages.iter());
    messages
        .filter(|message| {
            let headers = Headers::read(message).unwrap();
            headers.message_type != MessageType::EventRequest
        })
        .map(|message| Envelope::clone(message))
        .collect()
}
