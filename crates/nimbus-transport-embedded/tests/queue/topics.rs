//! Addresses: queues, topics and what nobody declared.

use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{Address, Envelope, Transport, TransportErrorKind, property};
use nimbus_transport_embedded::{EmbeddedTransport, EventFilter};

use crate::support::*;

fn event(event_type: &str, id: &str) -> Envelope {
    let mut event = message("s", id);
    event.properties.set(property::EVENT_TYPE_ID, event_type);
    event
}

fn endpoint(name: &str) -> EndpointId {
    EndpointId::new(name).expect("a name")
}

async fn ids(transport: &EmbeddedTransport, address: &str) -> Vec<String> {
    let messages = transport.inspector().messages(address, 100).await;
    let messages = messages.expect("declared").into_iter();
    messages.filter_map(|message| message.message_id).collect()
}

async fn send_to(
    transport: &EmbeddedTransport,
    address: &str,
    messages: Vec<Envelope>,
) -> Result<(), nimbus_messaging::TransportError> {
    let sender = transport.sender(&Address::from(address)).await;
    sender.expect("any address").send(messages).await
}

/// SUB-33: each endpoint that subscribes gets a copy under the same id, if it takes the type.
#[tokio::test]
async fn a_topic_fans_out_to_its_subscriptions() {
    let machine = Machine::new();
    let transport = machine.process().await;
    transport
        .declare_topic("Orders")
        .await
        .expect("a free name");
    let all = transport.subscribe("Orders", "Audit", EventFilter::All);
    all.await.expect("a topic");
    let some = transport.subscribe("orders", "BillingEndpoint", "OrderPlaced");
    some.await.expect("a topic");

    let events = vec![event("OrderPlaced", "1"), event("OrderShipped", "2")];
    send_to(&transport, "ORDERS", events)
        .await
        .expect("subscribed");
    assert_eq!(ids(&transport, "Audit").await, ["1", "2"]);
    assert_eq!(ids(&transport, "BillingEndpoint").await, ["1"]);

    // A second subscription of an endpoint replaces its first.
    let types = EventFilter::EventTypes(vec!["OrderShipped".to_owned()]);
    let replaced = transport.subscribe("Orders", "BillingEndpoint", types);
    replaced.await.expect("a topic");
    let events = vec![event("OrderPlaced", "3"), event("OrderShipped", "4")];
    send_to(&transport, "Orders", events)
        .await
        .expect("subscribed");
    assert_eq!(ids(&transport, "BillingEndpoint").await, ["1", "4"]);
}

/// A message of a schedule to a topic is withdrawn for all endpoints or none.
#[tokio::test]
async fn a_schedule_to_a_topic_is_withdrawn_as_a_whole() {
    use nimbus_inbox_core::Clock;
    use std::time::Duration;

    let machine = Machine::new();
    let transport = machine.process().await;
    for name in ["Audit", "BillingEndpoint"] {
        let subscription = transport.subscribe("Orders", name, EventFilter::All);
        subscription.await.expect("a free name");
    }
    let orders = transport
        .sender(&Address::from("Orders"))
        .await
        .expect("any");
    let due = machine.clock.now().saturating_add(Duration::from_secs(60));
    let schedule = orders.schedule(event("OrderPlaced", "1"), due).await;
    let scheduled = |counts: Vec<nimbus_transport_embedded::QueueCounts>| {
        counts.iter().map(|queue| queue.scheduled).sum::<u64>()
    };
    let inspector = transport.inspector();
    assert_eq!(scheduled(inspector.queues().await.expect("readable")), 2);
    let id = schedule.expect("subscribed");
    assert!(orders.cancel_scheduled(&id).await.expect("an id"));
    assert_eq!(scheduled(inspector.queues().await.expect("readable")), 0);
}

/// An address that nobody declared is an error that says what is declared; nothing is sent.
#[tokio::test]
async fn what_nobody_receives_is_refused() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let error = send_to(&transport, "Biling", vec![message("s", "1")]).await;
    let error = error.expect_err("misspelt");
    assert_eq!(error.kind(), TransportErrorKind::Unroutable);
    assert!(
        error
            .to_string()
            .contains("BillingEndpoint, Manager, Resolver"),
        "{error}"
    );

    // A batch is refused as a whole.
    let subscription = transport.subscribe("Orders", "BillingEndpoint", "OrderPlaced");
    subscription.await.expect("a free name");
    let events = vec![event("OrderPlaced", "1"), event("OrderShipped", "2")];
    let error = send_to(&transport, "Orders", events)
        .await
        .expect_err("nobody takes the second");
    assert_eq!(error.kind(), TransportErrorKind::Unroutable);
    assert!(error.to_string().contains("OrderShipped"), "{error}");
    assert!(ids(&transport, "BillingEndpoint").await.is_empty());
}

/// SUB-04: addresses are compared without ASCII case and keep the spelling they were declared in;
/// the well-known receivers are there from the start.
#[tokio::test]
async fn addresses_ignore_case() {
    let machine = Machine::new();
    let transport = machine.process().await;
    transport
        .declare("BILLINGENDPOINT")
        .await
        .expect("the same queue");
    send_to(&transport, "billingEndpoint", vec![message("s", "1")])
        .await
        .expect("declared");
    send_to(&transport, "resolver", vec![message("s", "2")])
        .await
        .expect("declared");
    let queues = transport.inspector().queues().await.expect("readable");
    let names: Vec<_> = queues
        .iter()
        .map(|queue| (queue.address.as_str(), queue.ready))
        .collect();
    assert_eq!(
        names,
        [("BillingEndpoint", 1), ("Manager", 0), ("Resolver", 1)]
    );
    // Case beyond ASCII, and a NUL, tell names apart.
    for name in ["\u{c9}", "\u{e9}", "a\0b", "a\0c"] {
        transport.declare(name).await.expect("a free name");
    }
    assert_eq!(
        transport
            .inspector()
            .queues()
            .await
            .expect("readable")
            .len(),
        7
    );
}

#[tokio::test]
async fn a_name_is_a_queue_or_a_topic() {
    let machine = Machine::new();
    let transport = machine.process().await;
    transport
        .declare_topic("Orders")
        .await
        .expect("a free name");
    for outcome in [
        transport.declare("orders").await,
        transport.verify(&endpoint("ORDERS")).await,
        transport.declare_topic("billingendpoint").await,
        transport
            .subscribe("Resolver", "BillingEndpoint", "OrderPlaced")
            .await,
        transport.declare("").await,
    ] {
        let error = outcome.expect_err("the wrong kind");
        assert_eq!(error.kind(), TransportErrorKind::Configuration, "{error}");
    }
}

#[tokio::test]
async fn an_endpoint_is_not_declared_where_that_is_not_allowed() {
    let machine = Machine::new();
    machine.process().await;
    let options = machine.options().with_auto_declare(false);
    let transport = EmbeddedTransport::open_with(machine.path(), options).await;
    let transport = transport.expect("the tables are there");
    transport.verify(&billing()).await.expect("declared before");
    let error = transport
        .verify(&endpoint("Shipping"))
        .await
        .expect_err("unknown");
    assert_eq!(error.kind(), TransportErrorKind::Configuration);
    assert!(error.to_string().contains("\"Shipping\""), "{error}");
}
