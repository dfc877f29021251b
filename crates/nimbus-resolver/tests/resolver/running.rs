//! Receiving what a subscriber reports.

use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{EndpointId, InboxSetup, SystemClock};
use nimbus_inbox_testing::{
    BrokerFault, BrokerOperation, BrokerOptions, BrokerPoint, BrokerWhen, InMemoryBroker,
    InMemoryInbox,
};
use nimbus_messaging::{
    Address, Envelope, EventReference, EventRequest, Headers, ManagerClient, Transport,
    TransportErrorKind,
};
use nimbus_resolver::{EventState, Resolver, ResolverOptions, ResolverReport};
use nimbus_subscriber::{
    HandlerContext, HandlerError, Handoff, RetryPolicy, RetryRule, Subscriber,
};
use nimbus_transport_embedded::EmbeddedTransport;

use crate::support::{ENDPOINT, Fixture, Told, until};

impl Fixture {
    /// Receives until the resolver's queue is empty.
    async fn resolve(&self, broker: &InMemoryBroker) -> ResolverReport {
        let resolver = Resolver::new(self.store.clone(), Arc::new(broker.connect()));
        let empty = until(async || broker.envelopes(Address::RESOLVER).is_empty());
        resolver.run(empty).await.unwrap()
    }
}

async fn tell(broker: &InMemoryBroker, messages: Vec<Envelope>) {
    let sender = broker.connect().sender(&Address::RESOLVER).await.unwrap();
    sender.send(messages).await.unwrap();
}

async fn act(order: String, context: HandlerContext) -> Result<(), HandlerError> {
    let retried = context.retry_count() > 0;
    match order.as_str() {
        "retried" if !retried => Err(HandlerError::new("no stock")),
        "blocks" => Err(HandlerError::new("no rate")),
        "discarded" => Err(HandlerError::discard("too late")),
        "dead" => Err(HandlerError::dead_letter("never")),
        "handed off" => {
            context.mark_pending_handoff(Handoff {
                reason: "slow bank".to_owned(),
                external_job_id: Some("job-1".to_owned()),
                expected_by: None,
            });
            Ok(())
        }
        _ => Ok(()),
    }
}

async fn serve(broker: &InMemoryBroker, inbox: &InMemoryInbox) {
    let soon = RetryPolicy::fixed(Duration::from_millis(1));
    let subscriber = Subscriber::builder(ENDPOINT)
        .handle("OrderPlaced", act)
        .retry_rule(RetryRule::error_contains("no stock", soon))
        .inbox(InboxSetup::new(inbox.clone()))
        .build(broker.connect())
        .unwrap();
    let idle = until(async || {
        broker.envelopes(ENDPOINT).is_empty() && broker.scheduled(ENDPOINT).is_empty()
    });
    subscriber.run(idle).await.unwrap();
}

async fn publish(broker: &InMemoryBroker, session: &str, order: &str) {
    let event = EventRequest::new("OrderPlaced", &order)
        .unwrap()
        .with_message_id(format!("m-{order}-{session}"))
        .with_event_id(format!("{order}-{session}"))
        .with_session(session);
    let sender = broker.connect().sender(&ENDPOINT.into()).await.unwrap();
    sender.send(vec![event.to(ENDPOINT)]).await.unwrap();
}

/// SUB-10 to SUB-15, SUB-21, SUB-24: what a real subscriber reports leads to the states that it
/// means, also after an operator acted.
#[tokio::test]
async fn a_subscriber_and_its_operator_are_followed() {
    let fixture = Fixture::new().await;
    // The subscriber's retries are due by the same clock.
    let options = BrokerOptions::default().with_clock(SystemClock);
    let (broker, inbox) = (InMemoryBroker::with_options(options), InMemoryInbox::new());
    broker.declare(ENDPOINT);
    for (session, order) in [
        ("1", "retried"),
        ("2", "blocks"),
        ("2", "waits"),
        ("3", "discarded"),
        ("4", "dead"),
        ("5", "handed off"),
        ("6", "fine"),
        ("6", "fine"),
    ] {
        publish(&broker, session, order).await;
    }
    serve(&broker, &inbox).await;
    let report = fixture.resolve(&broker).await;
    assert_eq!(report.kept, report.received);
    let expected = [
        ("retried-1", EventState::Completed),
        ("blocks-2", EventState::Failed),
        ("waits-2", EventState::Deferred),
        ("discarded-3", EventState::Discarded),
        ("dead-4", EventState::DeadLettered),
        ("handed off-5", EventState::PendingHandoff),
        ("fine-6", EventState::Completed),
    ];
    for (event, state) in expected {
        assert_eq!(fixture.state(event).await, state, "{event}");
    }
    assert_eq!(fixture.event("fine-6").await.duplicates, 1);
    let handed_off = fixture.event("handed off-5").await;
    assert_eq!(handed_off.details.external_job_id.as_deref(), Some("job-1"));

    let manager = ManagerClient::connect(&broker.connect(), ENDPOINT)
        .await
        .unwrap();
    let blocks = fixture.event("blocks-2").await;
    let reference: EventReference = blocks.reference().unwrap();
    manager
        .resubmit(&reference, blocks.content.unwrap())
        .await
        .unwrap();
    serve(&broker, &inbox).await;
    fixture.resolve(&broker).await;
    assert_eq!(fixture.state("blocks-2").await, EventState::Failed);
    assert_eq!(fixture.state("waits-2").await, EventState::Deferred);

    manager.skip(&reference).await.unwrap();
    let handed_off = handed_off.reference().unwrap();
    manager.complete_handoff(&handed_off).await.unwrap();
    serve(&broker, &inbox).await;
    fixture.resolve(&broker).await;
    assert_eq!(fixture.state("blocks-2").await, EventState::Skipped);
    assert_eq!(fixture.state("waits-2").await, EventState::Completed);
    assert_eq!(fixture.state("handed off-5").await, EventState::Completed);
}

/// SUB-24: a crash between the commit and the completion at the broker brings the report again,
/// which changes nothing.
#[tokio::test]
async fn a_kill_between_commit_and_completion_changes_nothing() {
    let fixture = Fixture::new().await;
    let broker = InMemoryBroker::new();
    let of_another = |headers: &mut Headers| headers.parent_message_id = Some("m-b".to_owned());
    let told = [
        Told::failed("a", 1, "no stock"),
        Told::duplicate("a", 2).with(of_another),
    ];
    tell(&broker, told.iter().map(Told::envelope).collect()).await;

    let doomed = broker.connect();
    let process = doomed.process();
    let before_it_counts = BrokerFault::hang().at(BrokerPoint::Before);
    let completion = BrokerWhen::on(BrokerOperation::Complete).by(process);
    broker.inject(completion, before_it_counts);
    let resolver = Resolver::new(fixture.store.clone(), Arc::new(doomed));
    let running = tokio::spawn(resolver.run(std::future::pending()));
    until(async || fixture.find("a").await.is_some()).await;
    broker.kill(process);
    running.abort();
    let before = fixture.event("a").await;
    assert_eq!(broker.envelopes(Address::RESOLVER).len(), 2);

    broker.expire_locks_of(process);
    let report = fixture.resolve(&broker).await;
    assert_eq!((report.repeated, report.kept), (1, 1));
    let after = fixture.event("a").await;
    assert_eq!(after.state, before.state);
    assert_eq!((after.reports, after.duplicates), (2, 1));
}

/// SUB-38: a completion that the broker did not confirm is no failure.
#[tokio::test]
async fn an_unconfirmed_completion_changes_nothing() {
    let fixture = Fixture::new().await;
    let broker = InMemoryBroker::new();
    tell(&broker, vec![Told::completed("a", 1).envelope()]).await;
    let first = BrokerWhen::on(BrokerOperation::Complete).nth(1);
    broker.inject(first, BrokerFault::fail(TransportErrorKind::Transient));
    let report = fixture.resolve(&broker).await;
    assert_eq!((report.received, report.kept, report.repeated), (2, 1, 1));
    assert_eq!(fixture.event("a").await.reports, 1);
}

/// SUB-03, SUB-22: a message that can't be used is set aside with the reason and costs no other.
#[tokio::test]
async fn poison_is_dead_lettered_and_costs_nothing_else() {
    let fixture = Fixture::new().await;
    let broker = InMemoryBroker::new();
    let mut garbage = Told::completed("b", 1).envelope();
    garbage.body = "not json".into();
    let drain = Told::outcome(
        nimbus_messaging::MessageType::ProcessDeferredRequest,
        "c",
        1,
    );
    tell(
        &broker,
        vec![
            Envelope::default(),
            garbage,
            drain.envelope(),
            Told::completed("a", 1).envelope(),
        ],
    )
    .await;
    let report = fixture.resolve(&broker).await;
    assert_eq!(
        (report.kept, report.dead_lettered, report.ignored),
        (1, 2, 1)
    );
    assert_eq!(fixture.state("a").await, EventState::Completed);
    let dead = broker.dead_letters(Address::RESOLVER);
    assert!(dead.iter().all(|dead| dead.reason == "UnusableReport"));
    let described = |part: &str| dead.iter().any(|dead| dead.description.contains(part));
    assert!(
        described("invalid JSON") && described("MessageType"),
        "{dead:?}"
    );
}

/// The same over the embedded queue, with two resolvers on one address and one file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_resolvers_share_an_embedded_queue() {
    let fixture = Fixture::new().await;
    let queue = EmbeddedTransport::open(fixture.directory.path().join("queue.db"));
    let queue = queue.await.unwrap();
    let resolver = EndpointId::new("Resolver").unwrap();
    queue.verify(&resolver).await.unwrap();
    let sender = queue.sender(&Address::RESOLVER).await.unwrap();
    for number in 0..40 {
        let id = format!("e-{number}");
        let told = [Told::failed(&id, 1, "x"), Told::completed(&id, 2)];
        sender
            .send(told.iter().map(Told::envelope).collect())
            .await
            .unwrap();
    }
    let inspector = queue.inspector();
    let empty = || until(async || inspector.queue(Address::RESOLVER).await.unwrap().ready == 0);
    let run = || {
        let resolver = Resolver::new(fixture.store.clone(), Arc::new(queue.clone()));
        resolver.run(empty())
    };
    let (one, other) = tokio::join!(run(), run());
    let (one, other) = (one.unwrap(), other.unwrap());
    assert_eq!(one.kept + other.kept, 80);
    for number in 0..40 {
        let event = fixture.event(&format!("e-{number}")).await;
        assert_eq!((event.state, event.reports), (EventState::Completed, 2));
    }
}

/// Settled events go on their own while the resolver runs.
#[tokio::test]
async fn a_running_resolver_purges() {
    let fixture = Fixture::new().await;
    fixture.apply(Told::completed("a", 1)).await;
    let broker = InMemoryBroker::new();
    let options = ResolverOptions::default().with_retention(Duration::from_secs(60));
    let resolver = Resolver::new(fixture.store.clone(), Arc::new(broker.connect()));
    let gone = until(async || fixture.find("a").await.is_none());
    resolver.with_options(options).run(gone).await.unwrap();
}

#[tokio::test]
async fn options_that_can_not_work_are_refused() {
    let fixture = Fixture::new().await;
    let options = ResolverOptions::default()
        .with_concurrent_events(0)
        .with_retention(Duration::ZERO);
    let broker = InMemoryBroker::new();
    let resolver = Resolver::new(fixture.store.clone(), Arc::new(broker.connect()));
    let refused = resolver
        .with_options(options)
        .run(std::future::pending())
        .await;
    let text = refused.unwrap_err().to_string();
    assert!(
        text.contains("no events at a time; a retention of zero"),
        "{text}"
    );
}
