use nimbus_inbox_testing::{BrokerFault, BrokerOperation, BrokerWhen};
use nimbus_messaging::{
    Address, Envelope, EventReference, ManagerClient, MessageType, TransportErrorKind,
};
use nimbus_subscriber::{CloudEventMapping, ContentMode, EventTypeRule};

use super::{MODES, order, run};
use crate::support::{ENDPOINT, Logs, World};

/// Runs a message with another one of its session behind it, and returns its reason and description.
async fn refused(world: &World, mode: ContentMode, message: Envelope) -> (String, String) {
    world.publish(message).await;
    world.publish(order("good").to("structured")).await;
    let report = run(world, mode).await;
    assert_eq!(world.script.done(), ["good"]);
    assert_eq!(world.recorded(), ["m-good"]);
    assert_eq!((report.dead_lettered, report.handled), (1, 1));
    let mut dead = world.broker.dead_letters(ENDPOINT);
    assert_eq!((dead.len(), dead[0].delivery_count), (1, 1));
    let dead = dead.remove(0);
    let told = &world.told()[0];
    assert_eq!(told.headers.message_type, MessageType::ErrorResponse);
    assert_eq!(told.headers.dead_letter_reason.as_ref(), Some(&dead.reason));
    let description = told.headers.dead_letter_error_description.as_ref();
    assert_eq!(description, Some(&dead.description));
    (dead.reason, dead.description)
}

/// SUB-06: an invalid CloudEvent is dead-lettered naming the missing attribute, in either content
/// mode, and the next message of its session is handled. The resolver is told which event it was,
/// as far as it said so.
#[tokio::test(start_paused = true)]
async fn a_missing_attribute_is_named() {
    for mode in [ContentMode::CloudEvents, ContentMode::AutoDetect] {
        for content_mode in MODES {
            for attribute in ["specversion", "id", "source", "type"] {
                let world = World::new().await;
                let message = order("a").without(attribute).to(content_mode);
                let (reason, description) = refused(&world, mode, message).await;
                assert_eq!(reason, "InvalidCloudEvent");
                let expected = format!("the CloudEvent can't be taken: no {attribute}");
                assert_eq!(description, expected, "{content_mode}");
                let said = &world.told()[0].headers;
                let unless =
                    |missing: &str, value: &str| (attribute != missing).then(|| value.to_owned());
                assert_eq!(said.cloud_event_id, unless("id", "a"));
                assert_eq!(said.cloud_event_source, unless("source", "/shop"));
                assert_eq!(said.cloud_event_type, unless("type", "OrderPlaced"));
                assert_eq!(said.cloud_event_subject.as_deref(), Some("order-a"));
                assert_eq!(said.parent_message_id.as_deref(), Some("m-a"));
                assert_eq!(world.told()[0].event_json(), Some(r#"{"order":"a"}"#));
            }
        }
    }
}

/// SUB-24, SUB-06: what the resolver was told of an invalid event is enough for an operator to have it
/// handled all the same; only the broker's own copy stays as it came.
#[tokio::test(start_paused = true)]
async fn an_invalid_event_can_be_resubmitted() {
    for content_mode in MODES {
        let world = World::new().await;
        let event = order("a")
            .without("id")
            .with("type", "com.example.OrderPlaced");
        let message = event.to(content_mode);
        world.publish(message.clone()).await;
        let mapping = CloudEventMapping::default().with_event_type(EventTypeRule::LastSegment);
        let by_segment = || {
            let mapping = mapping.clone();
            world.run_with(|builder| {
                super::in_mode(ContentMode::AutoDetect)(builder).cloud_event_mapping(mapping)
            })
        };
        by_segment().await;
        assert_eq!(world.broker.dead_letters(ENDPOINT)[0].envelope, message);
        let told = world.told().remove(0);
        let transport = world.broker.connect();
        let manager = ManagerClient::connect(&transport, ENDPOINT).await.unwrap();
        let reference = EventReference::of_outcome(&told.headers);
        let event = told.content.event_content.unwrap();
        manager.resubmit(&reference, event).await.unwrap();
        by_segment().await;
        assert_eq!(world.script.done(), ["a"], "{content_mode}");
    }
}

/// SUB-06: an attribute with a wrong value is named as well, and so is a message that has nothing of
/// a CloudEvent where all events are to be one.
#[tokio::test(start_paused = true)]
async fn a_wrong_attribute_is_named() {
    for (message, part) in [
        (
            order("a").with("specversion", "0.3"),
            "specversion is \"0.3\"",
        ),
        (
            order("a").with("source", "my shop"),
            "source holds white space",
        ),
        (order("a").with("id", ""), "id is empty"),
        (
            order("a").with("time", "noon"),
            "time is not an RFC 3339 instant",
        ),
    ] {
        for content_mode in MODES {
            let world = World::new().await;
            let message = message.to(content_mode);
            let (reason, description) = refused(&world, ContentMode::AutoDetect, message).await;
            assert_eq!(reason, "InvalidCloudEvent");
            assert!(description.contains(part), "{description}");
        }
    }
    let world = World::new().await;
    let mut nothing = order("a").to("cloudEvents:");
    nothing.properties = nimbus_messaging::Properties::default();
    let (reason, _) = refused(&world, ContentMode::CloudEvents, nothing).await;
    assert_eq!(reason, "NotACloudEvent");
}

/// SUB-06: a batch in one delivery is dead-lettered: a delivery settles one event.
#[tokio::test(start_paused = true)]
async fn a_batch_is_refused_as_one() {
    let world = World::new().await;
    let mut batch = order("a").to("structured");
    let event = String::from_utf8(batch.body.to_vec()).unwrap();
    batch.body = format!("[{event},{event}]").into();
    batch.content_type = Some("application/cloudevents-batch+json".to_owned());
    let (reason, description) = refused(&world, ContentMode::AutoDetect, batch).await;
    assert_eq!(reason, "CloudEventBatch");
    assert!(
        description.contains("a batch of 2 CloudEvents"),
        "{description}"
    );
}

/// SUB-06: data that is no JSON, and event formats other than JSON, are refused by their type.
#[tokio::test(start_paused = true)]
async fn what_no_handler_can_read_is_refused_by_its_type() {
    let xml = order("a").with("datacontenttype", "application/xml");
    let mut text = xml.to("structured");
    let body = String::from_utf8(text.body.to_vec()).unwrap();
    text.body = body.replace(r#"{"order":"a"}"#, r#""<order/>""#).into();
    let mut png = order("a").to("cloudEvents:");
    png.content_type = Some("image/png".to_owned());
    let mut untyped = order("a").to("ce-");
    untyped.content_type = None;
    let mut avro = order("a").to("structured");
    avro.content_type = Some("application/cloudevents+avro".to_owned());
    for (message, part) in [
        (text, "datacontenttype is \"application/xml\""),
        (png, "datacontenttype is \"image/png\""),
        (untyped, "no datacontenttype"),
        (avro, "application/cloudevents+avro"),
    ] {
        let world = World::new().await;
        let (reason, description) = refused(&world, ContentMode::AutoDetect, message).await;
        assert_eq!(reason, "UnsupportedCloudEvent");
        assert!(description.contains(part), "{description}");
    }
}

/// SUB-06, INB-09: texts about an event that can't be read hold nothing of its data.
#[tokio::test(start_paused = true)]
async fn refusals_hold_no_data() {
    let mut not_json = order("a").to("cloudEvents:");
    not_json.body = "payload-4711".into();
    let mut cut_off = order("a").to("structured");
    cut_off.body = r#"{"specversion":"1.0","data":"payload-4711"#.into();
    let mut twice = order("a").to("structured");
    twice.body = r#"{"data":"payload-4711","data":"payload-4711"}"#.into();
    for message in [not_json, cut_off, twice] {
        let logs = Logs::capture();
        let world = World::new().await;
        let (reason, description) = refused(&world, ContentMode::AutoDetect, message).await;
        assert_eq!(reason, "InvalidCloudEvent");
        let texts = format!("{description} {:?} {}", world.told()[0], logs.text());
        assert!(!texts.contains("payload-4711"), "{texts}");
    }
}

/// SUB-22, SUB-06: the resolver is told before the message is set aside; where it can't be, the
/// message is set aside all the same.
#[tokio::test(start_paused = true)]
async fn the_resolver_is_told_first_and_best_effort() {
    let world = World::new().await;
    let outcomes = BrokerWhen::on(BrokerOperation::Send).at(Address::RESOLVER);
    let refuses = BrokerFault::fail(TransportErrorKind::Transient);
    world.broker.inject(outcomes, refuses);
    world
        .publish(order("a").without("id").to("structured"))
        .await;
    run(&world, ContentMode::AutoDetect).await;
    assert_eq!(world.lines(), [""; 0]);
    assert_eq!(world.broker.dead_letters(ENDPOINT).len(), 1);

    let world = World::new().await;
    world
        .publish(order("a").without("id").to("structured"))
        .await;
    let dead_letters = BrokerWhen::on(BrokerOperation::DeadLetter);
    world.broker.inject(dead_letters, BrokerFault::hang());
    let running = world.start_with(super::in_mode(ContentMode::AutoDetect));
    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
    assert_eq!(world.lines(), ["ErrorResponse m-a"]);
    assert_eq!(world.broker.dead_letters(ENDPOINT).len(), 0);
    running.kill();
}
