//! A whole subscriber over RabbitMQ, with inbox and session state in SQLite.

use std::collections::BTreeMap;
use std::env;
use std::net::TcpStream;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nimbus_inbox_core::{EndpointId, InboxSetup};
use nimbus_inbox_sqlite::{SqliteInbox, SqliteSessions};
use nimbus_inbox_testing::{Namespace, ServiceTests};
use nimbus_messaging::{Address, EventRequest, Headers, MessageType, Transport};
use nimbus_subscriber::{HandlerContext, HandlerError, RetryPolicy, Subscriber};
use nimbus_tests::{ENDPOINT, Step};
use nimbus_transport_rabbitmq::{RabbitMqConnection, RabbitMqOptions, RabbitMqTransport};

const ADDRESS: &str = "NIMBUS_RABBITMQ_URL";
const STANDARD: &str = "amqp://guest:guest@127.0.0.1:5672/%2f";

const SESSIONS: [&str; 3] = ["order-1", "order-2", "order-3"];
const STEPS: u32 = 4;

/// What the handler did, by session.
#[derive(Clone, Default)]
struct Done(Arc<Mutex<BTreeMap<String, Vec<u32>>>>);

/// Fails the second step of each session until it is tried again.
async fn handle(done: Done, step: Step, context: HandlerContext) -> Result<(), HandlerError> {
    if step.number == 1 && context.retry_count() == 0 {
        return Err(HandlerError::retry("not yet"));
    }
    let session = context.headers().session_id.clone().unwrap_or_default();
    let mut done = done.0.lock().unwrap_or_else(PoisonError::into_inner);
    done.entry(session).or_default().push(step.number);
    Ok(())
}

/// SUB-11, SUB-18, SUB-36, INB-15: what a failed event holds up is parked in the database, its retry
/// comes by the broker's ladder, and what was parked follows in order; of what is published twice
/// nothing runs twice.
async fn a_failed_event_is_tried_again_before_what_follows_it() {
    let prefix = format!("{}.", Namespace::unique().name());
    let transport = transport(&prefix);
    let endpoint = EndpointId::new(ENDPOINT).expect("a name");
    let resolver = EndpointId::new("Resolver").expect("a name");
    transport.verify(&resolver).await.expect("declaring");
    transport.verify(&endpoint).await.expect("declaring");
    publish(&transport).await;

    let directory = tempfile::tempdir().expect("a directory");
    let inbox = SqliteInbox::open(directory.path().join("inbox.db")).await;
    let inbox = inbox.expect("an inbox");
    let sessions = SqliteSessions::new(inbox.database().clone(), endpoint.clone());
    let done = Done::default();
    let subscriber = Subscriber::builder(ENDPOINT)
        .handle_with(done.clone(), "Step", handle)
        .retry(RetryPolicy::fixed(Duration::from_millis(300)))
        .inbox(InboxSetup::new(inbox))
        .session_store(Arc::new(sessions))
        .build(transport.clone())
        .expect("a subscriber");
    let report = subscriber
        .run(all_resolved(transport.clone(), resolver.clone()))
        .await
        .expect("a run");

    let done = done
        .0
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .clone();
    let in_order: Vec<_> = (0..STEPS).collect();
    let expected = SESSIONS.map(|session| (session.to_owned(), in_order.clone()));
    assert_eq!(done, BTreeMap::from(expected), "{report}");
    assert!(report.failed >= 3 && report.replayed >= 6, "{report}");
    transport.close().await;
    delete(&prefix, &[endpoint, resolver]).await;
}

/// Every event twice, as a publisher does that isn't sure.
async fn publish(transport: &RabbitMqTransport) {
    let address = Address::new(ENDPOINT);
    let sender = transport.sender(&address).await.expect("a sender");
    for number in 0..STEPS {
        for session in SESSIONS {
            let event = EventRequest::new("Step", &Step { number }).expect("an event");
            let event = event
                .with_message_id(format!("{session}-{number}"))
                .with_session(session)
                .to(ENDPOINT);
            let twice = vec![event.clone(), event];
            sender.send(twice).await.expect("a send");
        }
    }
}

/// Resolves when each event was reported as done, and the first of the duplicates as skipped.
async fn all_resolved(transport: RabbitMqTransport, resolver: EndpointId) {
    let (mut resolved, mut skipped) = (0, 0);
    let mut lanes = transport.lanes(&resolver).await.expect("lanes");
    while resolved < SESSIONS.len() * STEPS as usize || skipped < SESSIONS.len() * 3 {
        let lane = lanes.accept_next().await.expect("a lane");
        let mut lane = lane.expect("nobody stopped it");
        while let Ok(Some(delivery)) = lane.receive(Duration::from_millis(100)).await {
            let headers = Headers::read(&delivery.envelope).expect("an outcome");
            resolved += usize::from(headers.message_type == MessageType::ResolutionResponse);
            skipped += usize::from(headers.message_type == MessageType::SkipResponse);
            delivery.receipt.complete().await.expect("completing");
        }
        lane.release().await.expect("a release");
    }
}

fn address() -> String {
    env::var(ADDRESS).unwrap_or_else(|_| STANDARD.to_owned())
}

fn transport(prefix: &str) -> RabbitMqTransport {
    let connection = RabbitMqConnection::parse(address()).expect("an address");
    let options = RabbitMqOptions::default()
        .with_prefix(prefix)
        .with_partitions(2);
    RabbitMqTransport::with_options(connection, options).expect("usable options")
}

/// Leaves nothing behind, the ladder of its own included.
async fn delete(prefix: &str, endpoints: &[EndpointId]) {
    use lapin::options::{ExchangeDeleteOptions, QueueDeleteOptions};
    use nimbus_transport_rabbitmq::Declaration;

    let properties = lapin::ConnectionProperties::default();
    let connection = lapin::Connection::connect(&address(), properties).await;
    let connection = connection.expect("a connection");
    let channel = connection.create_channel().await.expect("a channel");
    for endpoint in endpoints {
        let topology = transport(prefix).topology(endpoint);
        for declared in topology.declarations() {
            match declared.clone() {
                Declaration::Exchange { name, .. } => {
                    let options = ExchangeDeleteOptions::default();
                    let deleted = channel.exchange_delete(name.into(), options).await;
                    deleted.expect("a deletion");
                }
                Declaration::Queue { name, .. } => {
                    let options = QueueDeleteOptions::default();
                    let deleted = channel.queue_delete(name.into(), options).await;
                    deleted.expect("a deletion");
                }
                _ => {}
            }
        }
    }
}

fn tests() -> ServiceTests {
    let tests = ServiceTests::new("rabbitmq")
        .time_limit(Duration::from_secs(120))
        .test(
            "a_failed_event_is_tried_again_before_what_follows_it",
            a_failed_event_is_tried_again_before_what_follows_it,
        );
    if env::var_os(ADDRESS).is_some() || TcpStream::connect("127.0.0.1:5672").is_ok() {
        tests
    } else {
        tests.unavailable(format!("rabbitmq: no broker on port 5672; set {ADDRESS}"))
    }
}

nimbus_inbox_testing::conformance!(suites: tests());
