use std::sync::{Arc, Mutex};

use nimbus_inbox_testing::BrokerOptions;
use nimbus_messaging::{Headers, MessageContent, MessageType, property};
use nimbus_subscriber::{
    CloudEventMapping, ContentMode, EventTypeRule, HandlerContext, SubscriberErrorKind,
};
use serde_json::value::RawValue;

use super::{MODES, in_mode, order, run};
use crate::support::{ENDPOINT, EVENT_TYPE, World, continuation, defer, request};

/// SUB-06: structured and binary content mode are recognised, and the event is handled as its type,
/// in its session and under its message id.
#[tokio::test(start_paused = true)]
async fn both_content_modes_are_handled() {
    for mode in [ContentMode::CloudEvents, ContentMode::AutoDetect] {
        for content_mode in MODES {
            let world = World::new().await;
            world.publish(order("a").to(content_mode)).await;
            let report = run(&world, mode).await;
            assert_eq!(world.script.done(), ["a"], "{mode:?} {content_mode}");
            assert_eq!(world.recorded(), ["m-a"]);
            assert_eq!((report.received, report.handled), (1, 1));
            let [told] = &world.told()[..] else {
                panic!("{:?}", world.lines());
            };
            assert_eq!(told.headers.message_type, MessageType::ResolutionResponse);
            assert_eq!(told.headers.event_type_id.as_deref(), Some(EVENT_TYPE));
            assert_eq!(told.headers.original_session_id.as_deref(), Some("s"));
            assert_eq!(told.event_json(), Some(r#"{"order":"a"}"#));
            world.assert_idle();
        }
    }
}

/// SUB-06: they are recognised when enabled: by default a CloudEvent is an unknown message.
#[tokio::test(start_paused = true)]
async fn cloud_events_are_opt_in() {
    for content_mode in MODES {
        let world = World::new().await;
        world.publish(order("a").to(content_mode)).await;
        world.run().await;
        assert_eq!(world.script.begun(), [""; 0]);
        assert_eq!(
            world.broker.dead_letters(ENDPOINT)[0].reason,
            "UnknownMessageType"
        );
    }
}

/// SUB-06: with `AutoDetect` a native message stays native, and both are handled in their order.
#[tokio::test(start_paused = true)]
async fn native_events_and_cloud_events_go_together() {
    let world = World::new().await;
    world.place("a").await;
    world.publish(order("b").to("structured")).await;
    world.place("c").await;
    world.publish(order("d").to("cloudEvents:")).await;
    let named = World::event("e").with_session("s").to(ENDPOINT);
    let mut named = named;
    named
        .properties
        .set("ce-flavour", "no attribute of an event");
    named.properties.set(property::CLOUD_EVENT_ID, "e");
    world.publish(named).await;
    run(&world, ContentMode::AutoDetect).await;
    assert_eq!(world.script.done(), ["a", "b", "c", "d", "e"]);
    assert_eq!(world.recorded(), ["m-a", "m-b", "m-c", "m-d", "m-e"]);
    assert_eq!(world.told()[0].headers.cloud_event_id, None);
    assert_eq!(world.told_of("e").len(), 1);
    world.assert_idle();
}

/// SUB-06: a .NET publisher stamps its CloudEvents with native properties as well. They are
/// CloudEvents all the same, and what is stamped goes before the mapping.
#[tokio::test(start_paused = true)]
async fn what_a_nimbus_publisher_stamped_counts() {
    for content_mode in MODES {
        let world = World::new().await;
        let event = order("a").with("type", "Shop.Events.OrderPlaced");
        let mut message = event.to(content_mode);
        message.correlation_id = Some("c-1".to_owned());
        for (name, value) in [
            (property::MESSAGE_TYPE, "EventRequest"),
            (property::FROM, "ShopEndpoint"),
            (property::EVENT_TYPE_ID, EVENT_TYPE),
            (property::EVENT_ID, "stamped"),
        ] {
            message.properties.set(name, value);
        }
        world.publish(message).await;
        run(&world, ContentMode::AutoDetect).await;
        assert_eq!(world.script.done(), ["a"], "{content_mode}");
        let told = &world.told()[0].headers;
        assert_eq!(told.event_id, Some("stamped".into()));
        assert_eq!(told.correlation_id.as_deref(), Some("c-1"));
        assert_eq!(told.originating_from.as_deref(), Some("ShopEndpoint"));
        let said = told.cloud_event_type.as_deref();
        assert_eq!(said, Some("Shop.Events.OrderPlaced"));
    }
}

/// SUB-06: the event type comes from the type by rule or by name, and a type that no handler takes
/// is reported as of any other event.
#[tokio::test(start_paused = true)]
async fn the_event_type_is_mapped() {
    let world = World::new().await;
    for (id, cloud_event_type) in [
        ("a", "com.example.OrderPlaced"),
        ("b", "com.example.order.placed.v2"),
        ("c", "com.example.OrderShipped"),
    ] {
        let event = order(id).with("type", cloud_event_type);
        world.publish(event.to("cloudEvents:")).await;
    }
    let mapping = CloudEventMapping::default()
        .with_event_type(EventTypeRule::LastSegment)
        .with_named_event_type("com.example.order.placed.v2", EVENT_TYPE);
    let report = world
        .run_with(|builder| in_mode(ContentMode::CloudEvents)(builder).cloud_event_mapping(mapping))
        .await;
    assert_eq!(world.script.done(), ["a", "b"]);
    assert_eq!(report.unsupported, 1);
    let told = world.told();
    let unsupported = &told[2].headers;
    assert_eq!(unsupported.message_type, MessageType::UnsupportedResponse);
    assert_eq!(unsupported.event_type_id.as_deref(), Some("OrderShipped"));
    world.assert_idle();
}

/// SUB-06: where events are CloudEvents, a native event is refused by its name; what the project
/// itself sends is native there too.
#[tokio::test(start_paused = true)]
async fn a_native_event_is_refused_where_events_are_cloud_events() {
    let world = World::new().await;
    world.place("native").await;
    let beat = World::event("beat").with_session("s");
    let beat = beat.with_headers(|headers| headers.event_type_id = Some("Heartbeat".to_owned()));
    world.publish(beat.to(ENDPOINT)).await;
    world.script.fail("a", 1);
    world.publish(order("a").to("structured")).await;
    world.publish(order("b").to("structured")).await;
    run(&world, ContentMode::CloudEvents).await;
    assert_eq!(world.script.begun(), ["a"]);
    let dead = world.broker.dead_letters(ENDPOINT);
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].reason, "NotACloudEvent");
    assert_eq!(world.lines()[0], "ErrorResponse native");
    assert_eq!(world.told()[0].event_json(), Some(r#"{"order":"native"}"#));
    assert_eq!(world.lines()[1], "ResolutionResponse beat");

    let blocking = world.state().blocked_by_event_id.unwrap();
    let skip = World::command(MessageType::SkipRequest, blocking.as_str());
    world
        .publish(skip.into_envelope(&MessageContent::default()))
        .await;
    run(&world, ContentMode::CloudEvents).await;
    assert_eq!(world.script.done(), ["b"]);
    assert_eq!(world.parked(), []);
    assert_eq!(world.broker.messages(ENDPOINT), []);
}

/// SUB-06, SUB-17: a CloudEvent that an older version deferred at the broker is read as one.
#[tokio::test(start_paused = true)]
async fn a_deferred_cloud_event_is_handled() {
    let world = World::new().await;
    let messages = ["a", "b"].map(|id| order(id).to("structured"));
    defer(&world, messages.into()).await;
    request(&world, continuation()).await;
    run(&world, ContentMode::AutoDetect).await;
    assert_eq!(world.script.done(), ["a", "b"]);
    assert_eq!(world.recorded(), ["m-a", "m-b"]);
    assert!(!world.state().has_deferred());
    world.assert_idle();
}

/// SUB-06: the handler reads the data as it was written, an event without data as null, and bytes
/// whose type is JSON as JSON.
#[tokio::test(start_paused = true)]
async fn the_data_is_the_event() {
    let exact = r#"{"order": "a", "amount": 12345678901234567890.10}"#;
    let mut written = order("a").to("structured");
    let json =
        format!(r#"{{"specversion":"1.0","id":"1","source":"/s","type":"Raw","data":{exact}}}"#);
    written.body = json.into();
    let mut absent = order("b").with("type", "Raw").to("cloudEvents:");
    absent.body = "".into();
    let mut bytes = written.clone();
    bytes.message_id = Some("m-c".to_owned());
    bytes.body = concat!(
        r#"{"specversion":"1.0","id":"3","source":"/s","type":"Raw","#,
        r#""datacontenttype":"application/json","data_base64":"eyJ4eXoiOiAxMjN9"}"#
    )
    .into();

    let world = World::new().await;
    for message in [written, absent, bytes] {
        world.publish(message).await;
    }
    let seen: Arc<Mutex<Vec<String>>> = Arc::default();
    world
        .run_with(|builder| {
            in_mode(ContentMode::AutoDetect)(builder).handle_with(
                Arc::clone(&seen),
                "Raw",
                async |seen: Arc<Mutex<Vec<String>>>, event: Box<RawValue>, _: HandlerContext| {
                    seen.lock().unwrap().push(event.get().to_owned());
                    Ok(())
                },
            )
        })
        .await;
    assert_eq!(*seen.lock().unwrap(), [exact, "null", r#"{"xyz": 123}"#]);
    assert_eq!(world.told()[0].event_json(), Some(exact));
}

/// SUB-06: a mapping that can't work is found by `build`, with every problem in it.
#[tokio::test(start_paused = true)]
async fn a_mapping_that_can_not_work_is_found_at_build_time() {
    let world = World::new().await;
    let problems = |mode, mapping| {
        let process = world.process();
        let builder = in_mode(mode)(process.builder(&world)).cloud_event_mapping(mapping);
        match builder.build(process.transport.clone()) {
            Ok(_) => Vec::new(),
            Err(error) => {
                assert_eq!(error.kind(), SubscriberErrorKind::Configuration);
                error.problems().to_vec()
            }
        }
    };
    let wrong = CloudEventMapping::default()
        .with_event_type(EventTypeRule::StripPrefix(String::new()))
        .with_named_event_type("order", "OrderShipped")
        .with_session_from(["tenantId", "subject"])
        .with_correlation_from(["from_broker"]);
    let found = problems(ContentMode::AutoDetect, wrong.clone());
    assert_eq!(found.len(), 4, "{found:?}");
    for (problem, part) in found.iter().zip([
        "prefix to strip",
        "\"OrderShipped\", which has no handler",
        "session of a CloudEvent can't come from \"tenantId\"",
        "correlation of a CloudEvent can't come from \"from_broker\"",
    ]) {
        assert!(problem.contains(part), "{problem}");
    }
    let found = problems(ContentMode::Native, wrong);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("no effect"), "{found:?}");
    let none: [String; 0] = [];
    let default = CloudEventMapping::default;
    assert_eq!(problems(ContentMode::Native, default()), none);
    let right = default()
        .with_named_event_type("order", EVENT_TYPE)
        .with_session_from(["subject"])
        .with_correlation_from(["id", "from-broker"]);
    assert_eq!(problems(ContentMode::CloudEvents, right), none);
}

/// SUB-06: a native property of a CloudEvent that can't be read is named as of a native message, and
/// so is the event.
#[tokio::test(start_paused = true)]
async fn a_wrong_native_property_of_a_cloud_event_is_named() {
    for content_mode in MODES {
        let world = World::new().await;
        let mut message = order("a").to(content_mode);
        message.properties.set(property::RETRY_COUNT, "many");
        world.publish(message).await;
        run(&world, ContentMode::AutoDetect).await;
        let dead = world.broker.dead_letters(ENDPOINT);
        assert_eq!(dead[0].reason, "MalformedMessage");
        assert!(dead[0].description.contains(property::RETRY_COUNT));
        assert_eq!(world.told()[0].event_json(), Some(r#"{"order":"a"}"#));
        let told: &Headers = &world.told()[0].headers;
        assert_eq!(told.message_type, MessageType::ErrorResponse);
        assert_eq!(told.cloud_event_id.as_deref(), Some("a"));
        assert_eq!(told.cloud_event_source.as_deref(), Some("/shop"));
        assert_eq!(told.cloud_event_type.as_deref(), Some(EVENT_TYPE));
        assert_eq!(told.cloud_event_subject.as_deref(), Some("order-a"));
    }
}

/// SUB-06, SUB-18: a parked copy that a .NET peer sent back is native, and was a CloudEvent: it has
/// its place where events are CloudEvents.
#[tokio::test(start_paused = true)]
async fn a_republished_copy_is_taken_where_events_are_cloud_events() {
    let world = World::blocked("z", BrokerOptions::default()).await;
    world.publish(order("a").to("structured")).await;
    run(&world, ContentMode::CloudEvents).await;
    let copy = world.parked().pop().unwrap();
    let elsewhere = World::new().await;
    elsewhere.publish(copy.envelope).await;
    run(&elsewhere, ContentMode::CloudEvents).await;
    assert_eq!(elsewhere.script.done(), ["a"]);
    assert!(elsewhere.is_recorded("m-a"));
    elsewhere.assert_idle();
}
