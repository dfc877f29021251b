//! What the broker in memory adds to the contract that the conformance suite checks: virtual time,
//! processes that die, cut connections, topics and inspection.

use std::time::Duration;

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_testing::{
    BrokerOperation, BrokerOptions, InMemoryBroker, InMemoryTransport, ManualClock, MessageStatus,
};
use nimbus_messaging::{
    Address, Delivery, Envelope, Lane, SessionId, Transport, TransportErrorKind, property,
};

const BILLING: &str = "BillingEndpoint";
const LONG: Duration = Duration::from_secs(3_600);

fn message(id: &str, session: &str) -> Envelope {
    Envelope {
        message_id: Some(id.to_owned()),
        session_id: (!session.is_empty()).then(|| session.to_owned()),
        ..Envelope::default()
    }
}

async fn send(transport: &InMemoryTransport, address: &str, messages: Vec<Envelope>) {
    let sender = transport.sender(&Address::from(address)).await;
    let sent = sender.expect("a sender").send(messages).await;
    sent.expect("the messages are accepted");
}

async fn accept(transport: &InMemoryTransport) -> Box<dyn Lane> {
    let endpoint = EndpointId::new(BILLING).expect("a usable endpoint");
    let mut lanes = transport.lanes(&endpoint).await.expect("lanes");
    let lane = lanes.accept_next().await.expect("an accept");
    lane.expect("a lane")
}

async fn receive(lane: &mut Box<dyn Lane>) -> Delivery {
    let received = lane.receive(LONG).await.expect("a held lane");
    received.expect("a delivery")
}

fn id(delivery: &Delivery) -> &str {
    delivery.envelope.message_id.as_deref().expect("an id")
}

fn broker() -> InMemoryBroker {
    let broker = InMemoryBroker::new();
    broker.declare(BILLING);
    broker
}

#[tokio::test(start_paused = true)]
async fn an_address_is_found_in_any_ascii_case_and_a_foreign_one_is_unroutable() {
    let broker = broker();
    let transport = broker.connect();
    send(&transport, "bILLINGeNDPOINT", vec![message("m-1", "s")]).await;
    send(&transport, "RESOLVER", vec![message("m-2", "s")]).await;
    assert_eq!(broker.envelopes(BILLING), [message("m-1", "s")]);
    assert_eq!(broker.envelopes("Resolver"), [message("m-2", "s")]);

    let sender = transport.sender(&Address::from("Nowhere")).await.unwrap();
    let error = sender.send(vec![message("m-3", "")]).await.unwrap_err();
    assert_eq!(error.kind(), TransportErrorKind::Unroutable);
}

#[tokio::test(start_paused = true)]
async fn a_topic_reaches_the_endpoints_that_subscribed_to_the_event_type() {
    let broker = broker();
    broker.subscribe("Orders", BILLING, ["OrderPlaced"]);
    broker.subscribe("Orders", "AuditEndpoint", []);
    let transport = broker.connect();
    let mut placed = message("m-1", "s");
    placed
        .properties
        .set(property::EVENT_TYPE_ID, "OrderPlaced");
    let mut cancelled = message("m-2", "s");
    cancelled
        .properties
        .set(property::EVENT_TYPE_ID, "OrderCancelled");

    send(
        &transport,
        "orders",
        vec![placed.clone(), cancelled.clone()],
    )
    .await;
    assert_eq!(broker.envelopes(BILLING), [placed.clone()]);
    assert_eq!(broker.envelopes("AuditEndpoint"), [placed, cancelled]);
}

#[tokio::test(start_paused = true)]
async fn a_lock_is_known_to_be_lost_at_the_instant_it_runs_out() {
    let broker = broker();
    let transport = broker.connect();
    send(&transport, BILLING, vec![message("m-1", "s")]).await;
    let lane = accept(&transport).await;
    let accepted = tokio::time::Instant::now();

    lane.lock().lost().cancelled().await;
    assert_eq!(accepted.elapsed(), lane.lock().duration());
    let error = lane.lock().renew().await.unwrap_err();
    assert_eq!(error.kind(), TransportErrorKind::LockLost);
}

#[tokio::test(start_paused = true)]
async fn a_renewed_lock_holds_from_the_renewal() {
    let broker = broker();
    let transport = broker.connect();
    send(&transport, BILLING, vec![message("m-1", "s")]).await;
    let lane = accept(&transport).await;
    let accepted = tokio::time::Instant::now();

    tokio::time::sleep(Duration::from_secs(20)).await;
    lane.lock().renew().await.unwrap();
    lane.lock().lost().cancelled().await;
    assert_eq!(accepted.elapsed(), Duration::from_secs(50));
}

#[tokio::test(start_paused = true)]
async fn the_lock_of_a_released_lane_is_not_reported_lost() {
    let broker = broker();
    let transport = broker.connect();
    send(&transport, BILLING, vec![message("m-1", "s")]).await;
    let lane = accept(&transport).await;
    let lost = lane.lock().lost();
    lane.release().await.unwrap();
    tokio::time::sleep(LONG).await;
    assert!(!lost.is_cancelled());
}

#[tokio::test(start_paused = true)]
async fn nothing_a_dead_process_does_has_an_effect() {
    let broker = broker();
    let victim = broker.connect();
    send(&victim, BILLING, vec![message("m-1", "s")]).await;
    let mut lane = accept(&victim).await;
    let delivery = receive(&mut lane).await;
    let log = broker.log().len();

    broker.kill(victim.process());
    let error = delivery.receipt.complete().await.unwrap_err();
    assert!(error.is_transient(), "{error}");
    lane.release().await.unwrap_err();
    assert_eq!(broker.log().len(), log);
    let session = SessionId::new("s").unwrap();
    assert_eq!(broker.lock_owner(BILLING, &session), Some(victim.process()));

    // Its lock runs out by itself, or at once where a test can't wait.
    broker.expire_locks_of(victim.process());
    let survivor = broker.connect();
    let mut lane = accept(&survivor).await;
    let delivery = receive(&mut lane).await;
    assert_eq!((id(&delivery), delivery.delivery_count), ("m-1", 2));
    assert_eq!(
        broker.lock_owner(BILLING, &session),
        Some(survivor.process())
    );
}

#[tokio::test(start_paused = true)]
async fn a_cut_fails_what_waits_and_nothing_later() {
    let broker = broker();
    let transport = broker.connect();
    let endpoint = EndpointId::new(BILLING).unwrap();
    let mut lanes = transport.lanes(&endpoint).await.unwrap();
    let waiting = tokio::spawn(async move { (lanes.accept_next().await, lanes) });
    tokio::task::yield_now().await;

    broker.cut_connections();
    let (answer, mut lanes) = waiting.await.unwrap();
    assert!(answer.unwrap_err().is_transient());
    send(&transport, BILLING, vec![message("m-1", "s")]).await;
    assert!(lanes.accept_next().await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn inspection_shows_where_every_message_stands() {
    let broker = broker();
    let transport = broker.connect();
    let batch = ["a", "b", "c"].map(|session| message(&format!("m-{session}"), session));
    send(&transport, BILLING, batch.to_vec()).await;
    let sender = transport.sender(&Address::from(BILLING)).await.unwrap();
    let due = broker.now().saturating_add(LONG);
    sender.schedule(message("m-d", "d"), due).await.unwrap();

    let mut held = accept(&transport).await;
    let delivery = receive(&mut held).await;
    let abandoned = delivery.receipt.abandon(Duration::from_secs(5));
    abandoned.await.unwrap();
    let until = broker.now().saturating_add(Duration::from_secs(5));
    let mut busy = accept(&transport).await;
    let in_flight = receive(&mut busy).await;
    assert_eq!(id(&in_flight), "m-b");

    let statuses: Vec<_> = broker
        .messages(BILLING)
        .iter()
        .map(|message| (message.delivery_count, message.status))
        .collect();
    assert_eq!(
        statuses,
        [
            (1, MessageStatus::HeldUntil(until)),
            (1, MessageStatus::InFlight),
            (0, MessageStatus::Ready)
        ]
    );
    assert_eq!(broker.scheduled(BILLING), [(due, message("m-d", "d"))]);
    assert_eq!(broker.dead_letters(BILLING), []);
    let operations: Vec<_> = broker
        .log()
        .iter()
        .map(|logged| logged.call.operation)
        .filter(|operation| {
            !matches!(
                operation,
                BrokerOperation::OpenLanes | BrokerOperation::OpenSender
            )
        })
        .collect();
    assert_eq!(
        operations,
        [
            BrokerOperation::Send,
            BrokerOperation::Schedule,
            BrokerOperation::Accept,
            BrokerOperation::Receive,
            BrokerOperation::Abandon,
            BrokerOperation::Accept,
            BrokerOperation::Receive,
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn state_that_another_program_wrote_is_kept_with_what_it_does_not_know() {
    let broker = broker();
    let transport = broker.connect();
    let endpoint = EndpointId::new(BILLING).unwrap();
    let session = SessionId::new("s").unwrap();
    broker.put_session_json(
        BILLING,
        &session,
        r#"{"DeferredCount":2,"Theirs":{"a":[1]}}"#,
    );

    let store = transport.session_store(&endpoint);
    let fenced = store.fence(&session).await.unwrap();
    assert_eq!(fenced.state.deferred_count, 2);
    let written = store.write(&session, &fenced.state, fenced.version).await;
    assert!(matches!(
        written.unwrap(),
        nimbus_messaging::Cas::Written(version) if version > fenced.version
    ));
    assert!(
        broker
            .session_json(BILLING, &session)
            .contains(r#""Theirs":{"a":[1]}"#)
    );
    assert_eq!(broker.session_state(BILLING, &session), fenced.state);
}

#[tokio::test]
async fn another_clock_is_followed_when_the_broker_is_told() {
    let clock = ManualClock::default();
    let broker = InMemoryBroker::with_options(BrokerOptions::default().with_clock(clock.clone()));
    broker.declare(BILLING);
    let transport = broker.connect();
    send(&transport, BILLING, vec![message("m-1", "s")]).await;
    let mut lane = accept(&transport).await;
    let lost = lane.lock().lost();

    clock.advance(lane.lock().duration());
    broker.clock_moved();
    assert!(lost.is_cancelled());
    let error = lane.receive(Duration::ZERO).await.unwrap_err();
    assert_eq!(error.kind(), TransportErrorKind::LockLost);
}
