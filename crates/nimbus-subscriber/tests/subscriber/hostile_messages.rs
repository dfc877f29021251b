//! A message that can't be read costs its own dead-lettering and nothing else.

use std::time::Duration;

use nimbus_inbox_testing::{BrokerFault, BrokerOperation, BrokerWhen, Fault, When};
use nimbus_messaging::{Address, Envelope, TransportErrorKind, property};
use nimbus_subscriber::RetryPolicy;

use crate::support::{ENDPOINT, Logs, World};

fn with_body(body: impl Into<Vec<u8>>) -> Envelope {
    let mut message = World::event("bad").with_session("s").to(ENDPOINT);
    message.body = body.into().into();
    message
}

fn with_property(name: &str, value: &str) -> Envelope {
    let mut message = World::event("bad").with_session("s").to(ENDPOINT);
    message.properties.set(name, value);
    message
}

fn nested(depth: usize) -> String {
    format!("{}1{}", "[".repeat(depth), "]".repeat(depth))
}

fn with_event_json(json: &str) -> Envelope {
    let json = serde_json::Value::from(json);
    with_body(format!(
        r#"{{"EventContent":{{"EventTypeId":"OrderPlaced","EventJson":{json}}}}}"#
    ))
}

fn without_type() -> Envelope {
    let mut message = World::event("bad").with_session("s").to(ENDPOINT);
    message.properties.remove(property::MESSAGE_TYPE);
    message
}

/// SUB-03, SUB-01: an empty, malformed, over-nested, unknown or misdirected message is dead-lettered
/// with a reason, the resolver is told, nothing is recorded, and the next message of the session
/// is handled. The texts hold nothing of the payload.
#[tokio::test(start_paused = true)]
async fn an_unreadable_message_is_dead_lettered_alone() {
    let malformed = "MalformedMessage";
    let cases: Vec<(&str, Envelope, &str)> = vec![
        ("empty", with_body(""), malformed),
        ("no json", with_body("payload-4711 {"), malformed),
        ("not utf-8", with_body([0xff, 0xfe, b'{', b'}']), malformed),
        (
            "cut off",
            with_body(r#"{"EventContent":{"EventJson":"payload-4711"#),
            malformed,
        ),
        ("an array", with_body(r#"["payload-4711"]"#), malformed),
        (
            "wrong member",
            with_body(r#"{"EventContent":"payload-4711"}"#),
            malformed,
        ),
        (
            "33 levels",
            with_body(format!(r#"{{"Other":{}}}"#, nested(32))),
            malformed,
        ),
        (
            "a flood of brackets",
            with_body("[".repeat(5_000_000)),
            malformed,
        ),
        ("16 MiB of zeros", with_body(vec![0; 16 << 20]), malformed),
        (
            "no event",
            with_body(r#"{"EventContent":null}"#),
            "UnreadableEvent",
        ),
        (
            "event of another shape",
            with_event_json(r#"{"payload-4711":1}"#),
            "UnreadableEvent",
        ),
        (
            "event is no json",
            with_event_json("payload-4711"),
            "UnreadableEvent",
        ),
        (
            "event of 33 levels",
            with_event_json(&format!(r#"{{"order":"payload-4711","x":{}}}"#, nested(32))),
            "UnreadableEvent",
        ),
        (
            "retry count",
            with_property(property::RETRY_COUNT, "many"),
            malformed,
        ),
        (
            "negative",
            with_property(property::RETRY_COUNT, "-1"),
            malformed,
        ),
        (
            "too large",
            with_property(property::RETRY_COUNT, "4294967296"),
            malformed,
        ),
        (
            "sequence",
            with_property(property::DEFERRAL_SEQUENCE, "1.5"),
            malformed,
        ),
        (
            "instant",
            with_property(property::EXPECTED_BY, "tomorrow"),
            malformed,
        ),
        (
            "unknown type",
            with_property(property::MESSAGE_TYPE, "EventRequestX"),
            "UnknownMessageType",
        ),
        ("no type", without_type(), "UnknownMessageType"),
        (
            "misdirected",
            with_property(property::MESSAGE_TYPE, "ErrorResponse"),
            "UnexpectedMessageType",
        ),
    ];
    for (name, message, reason) in cases {
        let logs = Logs::capture();
        let world = World::new().await;
        world.publish(message).await;
        world.place("good").await;
        let report = world.run().await;

        let dead = world.broker.dead_letters(ENDPOINT);
        assert_eq!(dead.len(), 1, "{name}");
        assert_eq!(
            (dead[0].reason.as_str(), dead[0].delivery_count),
            (reason, 1),
            "{name}"
        );
        assert!(!dead[0].description.is_empty(), "{name}");
        assert_eq!(world.script.done(), ["good"], "{name}");
        assert_eq!(world.recorded(), ["m-good"], "{name}");
        assert_eq!(
            world.lines(),
            ["ErrorResponse bad", "ResolutionResponse good"],
            "{name}"
        );
        let told = &world.told()[0].headers;
        assert_eq!(told.dead_letter_reason.as_deref(), Some(reason), "{name}");
        assert_eq!((report.dead_lettered, report.handled), (1, 1), "{name}");
        let texts = format!("{} {:?} {}", dead[0].description, told, logs.text());
        assert!(!texts.contains("payload-4711"), "{name}: {texts}");
    }
}

/// SUB-24: a dead letter keeps the event where it could be read.
#[tokio::test(start_paused = true)]
async fn a_message_with_unreadable_headers_keeps_its_event() {
    for message in [
        with_property(property::RETRY_COUNT, "many"),
        with_property(property::MESSAGE_TYPE, "ErrorResponse"),
        without_type(),
    ] {
        let world = World::new().await;
        world.publish(message).await;
        world.run().await;
        assert_eq!(world.told()[0].event_json(), Some(r#"{"order":"bad"}"#));
    }
}

/// SUB-03: unknown members, 32 levels and a large event are no fault.
#[tokio::test(start_paused = true)]
async fn unusual_but_readable_messages_are_handled() {
    let world = World::new().await;
    let deep = nested(31);
    let body = format!(
        r#"{{"Later":{deep},"EventContent":{{"EventJson":"{{\"order\":\"a\",\"x\":{deep}}}","New":1}},"ErrorContent":null}}"#
    );
    world.publish(with_body(body)).await;
    let large = "y".repeat(4 << 20);
    let large = World::event(&large)
        .with_message_id("m-large")
        .with_session("s");
    world.publish(large.to(ENDPOINT)).await;
    let report = world.run().await;
    assert_eq!((report.handled, report.dead_lettered), (2, 0));
    assert_eq!(world.script.done()[0], "a");
    world.assert_idle();
}

/// SUB-01: the type's name is read without case, and written as it is named.
#[tokio::test(start_paused = true)]
async fn the_message_type_is_read_without_case() {
    let world = World::new().await;
    let mut message = World::event("a").with_session("s").to(ENDPOINT);
    message
        .properties
        .set(property::MESSAGE_TYPE, "eventREQUEST");
    world.publish(message).await;
    world.run().await;
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
}

/// SUB-09: a heartbeat is answered before inbox and session are looked at, and never recorded; not
/// even the outage of both keeps the answer back.
#[tokio::test(start_paused = true)]
async fn a_heartbeat_is_answered_first_and_never_recorded() {
    let world = World::new().await;
    world.set_state(&World::blocked_by("z"));
    let message = World::event("beat").with_session("s");
    let message = message.with_headers(|h| h.event_type_id = Some("Heartbeat".to_owned()));
    let envelope = message.to(ENDPOINT);
    world.publish(envelope.clone()).await;
    world.publish(envelope).await;
    let process = world.process();
    process.store.inject(When::check(), Fault::transient());
    let running = process.start(process.builder(&world));
    world.settle().await;
    running.stop().await;
    assert_eq!(
        world.lines(),
        ["ResolutionResponse beat", "ResolutionResponse beat"]
    );
    assert_eq!(world.parked(), []);
    assert_eq!(world.recorded(), [""; 0]);
    world.assert_idle();
}

/// SUB-24: a message that is just small enough for the broker has larger outcomes and retries. The
/// outcome goes without its event, and a retry that is refused leaves the block to the operator;
/// neither costs the message a second run.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_the_broker_refuses_goes_without_its_event() {
    let world = World::new().await;
    let too_large = || BrokerFault::fail(TransportErrorKind::InvalidInput);
    world.place("a").await;
    world.place("b").await;
    for with_event in [1, 2] {
        let outcome = BrokerWhen::on(BrokerOperation::Send).at(Address::RESOLVER);
        world.broker.inject(outcome.nth(with_event), too_large());
    }
    let retries = BrokerWhen::on(BrokerOperation::Schedule);
    world.broker.inject(retries, too_large());
    world.script.fail("b", 1);
    let policy = RetryPolicy::fixed(Duration::from_secs(5));
    world.run_with(|builder| builder.retry(policy)).await;
    assert_eq!(world.script.begun(), ["a", "b"]);
    // The last one takes back that a retry follows.
    let lines = ["ResolutionResponse a", "ErrorResponse b", "ErrorResponse b"];
    assert_eq!(world.lines(), lines);
    let told = world.told();
    let retries: Vec<_> = told.iter().map(|told| told.headers.next_retry_at).collect();
    assert!(retries[1].is_some() && retries[2].is_none(), "{retries:?}");
    for outcome in &told[..2] {
        assert_eq!(outcome.content.event_content, None);
    }
    assert!(world.state().is_blocked_by(Some(&"b".into())));
    world.assert_idle();
}

/// SUB-24: where identities alone make an outcome too large, the work is done and settled all the
/// same: trying again would run the handler again, for ever.
#[tokio::test(start_paused = true)]
async fn an_outcome_that_can_not_be_sent_at_all_is_left_out() {
    let world = World::new().await;
    world.place("a").await;
    let outcomes = BrokerWhen::on(BrokerOperation::Send).at(Address::RESOLVER);
    world.broker.inject(
        outcomes,
        BrokerFault::fail(TransportErrorKind::InvalidInput),
    );
    world.run().await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(world.recorded(), ["m-a"]);
    world.assert_idle();
}
