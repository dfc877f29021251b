//! Faults and gates at the broker in memory: where they strike, and what is left behind.

use std::time::Duration;

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_testing::{
    BrokerFault, BrokerOperation, BrokerOptions, BrokerPoint, BrokerWhen, InMemoryBroker,
    InMemoryTransport,
};
use nimbus_messaging::{
    Address, Cas, Envelope, Lane, LaneSource, ParkedCopy, ParkedRef, SessionId, SessionState,
    Transport, TransportError, TransportErrorKind,
};

const BILLING: &str = "BillingEndpoint";
const LONG: Duration = Duration::from_secs(3_600);

fn message(id: &str) -> Envelope {
    Envelope {
        message_id: Some(id.to_owned()),
        session_id: Some("s".to_owned()),
        ..Envelope::default()
    }
}

fn connected(options: BrokerOptions) -> (InMemoryBroker, InMemoryTransport) {
    let broker = InMemoryBroker::with_options(options);
    broker.declare(BILLING);
    let transport = broker.connect();
    (broker, transport)
}

async fn send(transport: &InMemoryTransport, id: &str) -> Result<(), TransportError> {
    let sender = transport.sender(&Address::from(BILLING)).await?;
    sender.send(vec![message(id)]).await
}

async fn lanes(transport: &InMemoryTransport) -> Box<dyn LaneSource> {
    let endpoint = EndpointId::new(BILLING).expect("a usable endpoint");
    transport.lanes(&endpoint).await.expect("lanes")
}

async fn accept(transport: &InMemoryTransport) -> Box<dyn Lane> {
    let lane = lanes(transport).await.accept_next().await;
    lane.expect("an accept").expect("a lane")
}

#[tokio::test(start_paused = true)]
async fn a_fault_before_the_effect_prevents_it_and_one_after_loses_the_answer() {
    let (broker, transport) = connected(BrokerOptions::default());
    let sends = || BrokerWhen::on(BrokerOperation::Send).at(BILLING);
    broker.inject(sends().nth(1), BrokerFault::transient());
    assert!(send(&transport, "m-1").await.unwrap_err().is_transient());
    assert!(broker.envelopes(BILLING).is_empty());

    broker.inject(sends().nth(1), BrokerFault::answer_lost());
    assert!(send(&transport, "m-2").await.unwrap_err().is_transient());
    assert_eq!(broker.envelopes(BILLING), [message("m-2")]);

    send(&transport, "m-3").await.unwrap();
    let kind = TransportErrorKind::Configuration;
    broker.inject(sends().first(2), BrokerFault::fail(kind));
    for failed in [true, true, false] {
        let sent = send(&transport, "m-4").await;
        assert_eq!(sent.is_err_and(|error| error.kind() == kind), failed);
    }
}

#[tokio::test(start_paused = true)]
async fn a_predicate_sees_the_messages_of_a_call() {
    let (broker, transport) = connected(BrokerOptions::default());
    let when = BrokerWhen::any().matching(|call| call.messages.contains(&message("m-2").into()));
    broker.inject(when, BrokerFault::transient());
    send(&transport, "m-1").await.unwrap();
    send(&transport, "m-2").await.unwrap_err();
    broker.clear_hooks();
    send(&transport, "m-2").await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn an_accept_fails_while_it_has_nothing_to_take() {
    let (broker, transport) = connected(BrokerOptions::default());
    broker.inject(
        BrokerWhen::on(BrokerOperation::Accept),
        BrokerFault::transient(),
    );
    let mut lanes = lanes(&transport).await;
    assert!(lanes.accept_next().await.unwrap_err().is_transient());
}

#[tokio::test(start_paused = true)]
async fn a_settlement_that_hangs_ends_at_its_bound_and_settles_nothing() {
    let options = BrokerOptions::default().with_settlement_bound(Duration::from_secs(7));
    let (broker, transport) = connected(options);
    send(&transport, "m-1").await.unwrap();
    let mut lane = accept(&transport).await;
    let delivery = lane.receive(LONG).await.unwrap().unwrap();
    broker.inject(
        BrokerWhen::on(BrokerOperation::Complete),
        BrokerFault::hang(),
    );
    let started = tokio::time::Instant::now();
    assert!(
        delivery
            .receipt
            .complete()
            .await
            .unwrap_err()
            .is_transient()
    );
    assert_eq!(started.elapsed(), Duration::from_secs(7));
    assert_eq!(broker.envelopes(BILLING), [message("m-1")]);
}

#[tokio::test(start_paused = true)]
async fn a_delayed_call_goes_on() {
    let (broker, transport) = connected(BrokerOptions::default());
    let delay = Duration::from_secs(3);
    broker.inject(
        BrokerWhen::on(BrokerOperation::Send),
        BrokerFault::delay(delay),
    );
    let started = tokio::time::Instant::now();
    send(&transport, "m-1").await.unwrap();
    assert_eq!(started.elapsed(), delay);
    assert_eq!(broker.envelopes(BILLING), [message("m-1")]);
}

#[tokio::test(start_paused = true)]
async fn a_receive_whose_answer_is_lost_comes_again_after_the_lock() {
    let (broker, transport) = connected(BrokerOptions::default());
    send(&transport, "m-1").await.unwrap();
    broker.inject(
        BrokerWhen::on(BrokerOperation::Receive).nth(1),
        BrokerFault::answer_lost(),
    );
    let mut lane = accept(&transport).await;
    lane.receive(LONG).await.unwrap_err();
    assert!(
        lane.receive(Duration::from_secs(1))
            .await
            .unwrap()
            .is_none()
    );
    drop(lane);
    let mut lane = accept(&transport).await;
    let delivery = lane.receive(LONG).await.unwrap().unwrap();
    assert_eq!(delivery.delivery_count, 2);
}

/// SUB-35: the copy is there before the state counts it, and a conflict leaves the copy.
#[tokio::test(start_paused = true)]
async fn a_store_that_is_not_atomic_stops_between_its_steps() {
    let (broker, transport) = connected(BrokerOptions::default().without_atomic_sessions());
    let store = transport.session_store(&EndpointId::new(BILLING).unwrap());
    let session = SessionId::new("s").unwrap();
    let copy = ParkedCopy {
        reference: ParkedRef {
            sequence: 0,
            id: "m-1".to_owned(),
            generation: 0,
        },
        envelope: message("m-1"),
    };
    let mut counted = SessionState::default();
    counted.count_parked();
    let between = BrokerFault::transient().at(BrokerPoint::Between);

    let fenced = store.fence(&session).await.unwrap();
    broker.inject(BrokerWhen::on(BrokerOperation::Park), between.clone());
    let parked = store.park(&session, &copy, &counted, fenced.version).await;
    parked.unwrap_err();
    assert_eq!(
        broker.parked(BILLING, &session),
        std::slice::from_ref(&copy)
    );
    assert_eq!(broker.session_state(BILLING, &session), fenced.state);

    broker.clear_hooks();
    let parked = store.park(&session, &copy, &counted, fenced.version).await;
    let Cas::Written(version) = parked.unwrap() else {
        panic!("nobody else wrote");
    };
    let [again] = &broker.parked(BILLING, &session)[..] else {
        panic!("one copy was parked");
    };
    assert_eq!(again.reference.generation, 1);

    broker.inject(BrokerWhen::on(BrokerOperation::Unpark), between);
    let reference = &again.reference;
    let settled = SessionState::default();
    let unparked = store.unpark(&session, reference, &settled, version).await;
    unparked.unwrap_err();
    assert_eq!(broker.session_state(BILLING, &session), settled);
    assert_eq!(broker.parked(BILLING, &session).len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_gate_shows_a_call_before_and_after_its_effect() {
    let (broker, transport) = connected(BrokerOptions::default());
    let sends = || BrokerWhen::on(BrokerOperation::Send);
    let mut before = broker.hold(sends(), BrokerPoint::Before);
    let mut after = broker.hold(sends(), BrokerPoint::After);
    let sending = tokio::spawn(async move { send(&transport, "m-1").await });

    let held = before.reached().await;
    assert_eq!(held.call().address, Address::from(BILLING));
    assert!(broker.envelopes(BILLING).is_empty());
    held.release();
    let held = after.reached().await;
    assert_eq!(broker.envelopes(BILLING), [message("m-1")]);
    held.fail(TransportError::transient("decided by the test"));
    let error = sending.await.unwrap().unwrap_err();
    assert_eq!(error.to_string(), "decided by the test");
}

#[tokio::test(start_paused = true)]
async fn a_stop_ends_an_accept_that_is_held_and_keeps_a_lane_that_was_locked() {
    let (broker, transport) = connected(BrokerOptions::default());
    send(&transport, "m-1").await.unwrap();
    for (point, locked) in [(BrokerPoint::Before, false), (BrokerPoint::After, true)] {
        let mut gate = broker.hold(BrokerWhen::on(BrokerOperation::Accept), point);
        let mut lanes = lanes(&transport).await;
        let stopper = lanes.stopper();
        let accepting = tokio::spawn(async move { lanes.accept_next().await });
        let held = gate.reached().await;
        stopper.stop();
        let lane = accepting.await.unwrap().unwrap();
        assert!(held.is_dropped());
        assert_eq!(lane.is_some(), locked);
    }
}
