use std::time::Duration;

use nimbus_inbox_core::InboxSetup;
use nimbus_messaging::{EventReference, Headers, ManagerClient, MessageContent, MessageType};
use nimbus_subscriber::{CloudEventMapping, ContentMode, RetryPolicy, Subscriber};

use super::{MODES, in_mode, order, run};
use crate::support::{ENDPOINT, EVENT_TYPE, OrderPlaced, World};

fn assert_is_order_a(headers: &Headers) {
    assert_eq!(headers.cloud_event_id.as_deref(), Some("a"));
    assert_eq!(headers.cloud_event_source.as_deref(), Some("/shop"));
    assert_eq!(headers.cloud_event_type.as_deref(), Some("OrderPlaced"));
    assert_eq!(headers.cloud_event_subject.as_deref(), Some("order-a"));
}

/// SUB-06: an event's identity is carried to the resolver by everything that concerns it: outcomes,
/// its retry, its parked copy and its resubmission, all of them native messages with the event in
/// them, which need no translation.
#[tokio::test(start_paused = true)]
async fn the_identity_goes_with_everything_about_an_event() {
    for content_mode in MODES {
        let world = World::new().await;
        world.script.fail("a", 2);
        world.publish(order("a").to(content_mode)).await;
        let policy = RetryPolicy::fixed(Duration::from_secs(4 * 60 * 60)).max_retries(1);
        let retrying = |mode| {
            let policy = policy.clone();
            world.run_with(move |builder| in_mode(mode)(builder).retry(policy))
        };
        retrying(ContentMode::CloudEvents).await;
        let [(_, retry)] = &world.broker.scheduled(ENDPOINT)[..] else {
            panic!("{:?}", world.broker.scheduled(ENDPOINT));
        };
        let headers = Headers::read(retry).unwrap();
        assert_is_order_a(&headers);
        assert_eq!(headers.message_type, MessageType::RetryRequest);
        assert_eq!(headers.inbox_message_id.as_deref(), Some("m-a"));
        let content = MessageContent::decode(&retry.body).unwrap();
        let event = content.event_content.unwrap().event_json;
        assert_eq!(event.as_deref(), Some(r#"{"order":"a"}"#));

        // Its second copy is parked behind its own block, under another message id.
        let copy = order("a").with_message_id(Some("m-a2"));
        world.publish(copy.to(content_mode)).await;
        retrying(ContentMode::CloudEvents).await;
        let [parked] = &world.parked()[..] else {
            panic!("{:?}", world.parked());
        };
        let headers = Headers::read(&parked.envelope).unwrap();
        assert_is_order_a(&headers);
        assert_eq!(headers.inbox_message_id.as_deref(), Some("m-a2"));

        // The retry fails as well; an operator resubmits what the resolver was told.
        for _ in 0..4 {
            retrying(ContentMode::CloudEvents).await;
        }
        assert_eq!(world.script.begun(), ["a", "a"], "{content_mode}");
        let told = world.told();
        let failed = told.last().unwrap();
        assert_eq!(failed.headers.message_type, MessageType::ErrorResponse);
        let transport = world.broker.connect();
        let manager = ManagerClient::connect(&transport, ENDPOINT).await.unwrap();
        let reference = EventReference::of_outcome(&failed.headers);
        let event = failed.content.event_content.clone().unwrap();
        manager.resubmit(&reference, event).await.unwrap();
        // What was translated needs no mode any more.
        retrying(ContentMode::Native).await;
        assert_eq!(world.script.done(), ["a", "a"]);

        for told in world.told() {
            assert_is_order_a(&told.headers);
            assert_eq!(told.headers.event_id, failed.headers.event_id);
            assert_eq!(told.event_json(), Some(r#"{"order":"a"}"#));
        }
        world.assert_idle();
    }
}

/// SUB-06, INB-04: the inbox goes by endpoint and message id: one id reused across two event types
/// deduplicates.
#[tokio::test(start_paused = true)]
async fn one_id_in_two_event_types_is_one_delivery() {
    for content_mode in MODES {
        let world = World::new().await;
        let shipped = order("b").with("type", "OrderShipped");
        world.publish(order("a").to(content_mode)).await;
        let shipped = shipped.with_message_id(Some("m-a"));
        world.publish(shipped.to(content_mode)).await;
        let script = world.script.clone();
        let report = world
            .run_with(|builder| {
                in_mode(ContentMode::AutoDetect)(builder).handle_with(
                    script,
                    "OrderShipped",
                    async |script: crate::support::Script, event: OrderPlaced, context| {
                        script.play(event, context).await
                    },
                )
            })
            .await;
        assert_eq!(world.script.done(), ["a"], "{content_mode}");
        assert_eq!((report.handled, report.duplicates), (1, 1));
        let told = &world.told()[1];
        assert_eq!(told.error_text(), Some("DuplicateDetected"));
        assert_eq!(told.headers.cloud_event_id.as_deref(), Some("b"));
    }
}

/// SUB-06, INB-22: two endpoints that consume one type and share a store don't skip each other.
#[tokio::test(start_paused = true)]
async fn two_endpoints_with_one_type_do_not_skip_each_other() {
    let world = World::new().await;
    world.broker.declare("ShippingEndpoint");
    let script = world.script.clone();
    let shipping = |world: &World| {
        Subscriber::builder("ShippingEndpoint")
            .clock(world.clock)
            .content_mode(ContentMode::AutoDetect)
            .inbox(InboxSetup::new(world.inbox.clone()))
            .handle_with(
                script.clone(),
                EVENT_TYPE,
                async |script: crate::support::Script, event: OrderPlaced, context| {
                    script.play(event, context).await
                },
            )
    };
    let event = order("a").to("cloudEvents:");
    world.publish(event.clone()).await;
    run(&world, ContentMode::AutoDetect).await;
    let transport = world.broker.connect();
    let address = nimbus_messaging::Address::from("ShippingEndpoint");
    let sender = nimbus_messaging::Transport::sender(&transport, &address)
        .await
        .unwrap();
    sender.send(vec![event.clone(), event]).await.unwrap();
    let hour = Duration::from_secs(60 * 60);
    let subscriber = shipping(&world).build(transport).unwrap();
    let report = subscriber.run(tokio::time::sleep(hour)).await.unwrap();
    assert_eq!((report.handled, report.duplicates), (1, 1));
    assert_eq!(world.script.done(), ["a", "a"]);
    let keys = world.inbox.keys();
    let endpoints: Vec<&str> = keys.iter().map(|key| key.endpoint().as_str()).collect();
    assert_eq!(endpoints, [ENDPOINT, "ShippingEndpoint"]);
}

/// SUB-06: a message without an id is recognised by its event, which is named by source and id
/// together: the same id of another source is another event.
#[tokio::test(start_paused = true)]
async fn without_a_message_id_source_and_id_identify_an_event() {
    for content_mode in MODES {
        let world = World::new().await;
        let event = order("a").with_message_id(None);
        let other = event.clone().with("source", "/shop2");
        for event in [&event, &event, &other] {
            world.publish(event.to(content_mode)).await;
        }
        let report = run(&world, ContentMode::AutoDetect).await;
        assert_eq!(
            (report.handled, report.duplicates),
            (2, 1),
            "{content_mode}"
        );
        let told = world.told();
        let event_id = |at: usize| told[at].headers.event_id.clone().unwrap();
        assert_eq!(event_id(0), event_id(1));
        assert_ne!(event_id(0), event_id(2));
        let recorded = world.recorded();
        assert_eq!(recorded[0], event_id(0).as_str());
        assert!(recorded.iter().all(|id| id.len() == 64 && id.is_ascii()));
        world.assert_idle();
    }
}

/// SUB-06: the event's id does not depend on the message that carries it, unless the broker's own
/// message id is what the inbox goes by.
#[tokio::test(start_paused = true)]
async fn two_messages_of_one_event_are_two_deliveries() {
    let world = World::new().await;
    world.publish(order("a").to("structured")).await;
    let again = order("a").with_message_id(Some("m-a2"));
    world.publish(again.to("structured")).await;
    let report = run(&world, ContentMode::AutoDetect).await;
    assert_eq!((report.handled, report.duplicates), (2, 0));
    let told = world.told();
    assert_eq!(told[0].headers.event_id, told[1].headers.event_id);
}

/// SUB-06, SUB-25: correlation and trace context come from the broker's fields, else from the event.
#[tokio::test(start_paused = true)]
async fn correlation_and_trace_come_from_extensions() {
    let trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let world = World::new().await;
    let event = order("a")
        .with("correlationid", "c-1")
        .with("traceparent", trace)
        .with("tracestate", "v=1");
    world.publish(event.to("structured")).await;
    let event = order("b").with("correlationid", "c-2");
    let mut own = event.to("cloudEvents:");
    own.correlation_id = Some("broker".to_owned());
    world.publish(own).await;
    let seen: std::sync::Arc<std::sync::Mutex<Option<Headers>>> = std::sync::Arc::default();
    let of_handler = std::sync::Arc::clone(&seen);
    world.script.next("a", async move |context| {
        *of_handler.lock().unwrap() = Some(context.headers().clone());
        Ok(())
    });
    run(&world, ContentMode::AutoDetect).await;
    let told = world.told();
    assert_eq!(told[0].headers.correlation_id.as_deref(), Some("c-1"));
    assert_eq!(told[1].headers.correlation_id.as_deref(), Some("broker"));
    let headers = seen.lock().unwrap().clone().unwrap();
    assert_is_order_a(&headers);
    assert_eq!(headers.correlation_id.as_deref(), Some("c-1"));
    let parent = headers.trace.parent.unwrap();
    assert_eq!(parent.split('-').nth(1), trace.split('-').nth(1));

    let world = World::new().await;
    world.publish(order("a").to("structured")).await;
    let mapping = CloudEventMapping::default().with_correlation_from(["id"]);
    world
        .run_with(|builder| in_mode(ContentMode::AutoDetect)(builder).cloud_event_mapping(mapping))
        .await;
    let told = world.told();
    assert_eq!(told[0].headers.correlation_id.as_deref(), Some("a"));
}
