use std::time::Duration;

use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{Delivery, SessionId, Settlement, TransportErrorKind};

use super::subject::{HeldLane, Process, Subject, expect, id_of, message, settled};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Deferral:
    a_deferred_message_comes_only_by_its_number,
    a_number_that_was_not_deferred_finds_nothing,
    a_deferred_message_comes_beside_a_delivery_in_flight,
    a_deferred_message_that_is_abandoned_stays_deferred,
    a_deferred_message_outlasts_lane_and_lock,
];

pub(super) const UNSUPPORTED_CASES: &[TransportCase] = cases![NoDeferral:
    deferral_is_refused_as_unsupported,
];

fn session() -> SessionId {
    SessionId::new("s").expect("a session has a name")
}

async fn fetch(lane: &mut HeldLane, number: i64) -> Option<Delivery> {
    let fetched = lane.0.receive_deferred(&session(), number).await;
    expect("receiving a deferred message", fetched)
}

async fn expect_fetched(lane: &mut HeldLane, number: i64, id: &str) -> Delivery {
    let delivery = fetch(lane, number).await;
    let delivery = delivery.expect("the deferred message is there");
    assert_eq!(id_of(&delivery), Some(id));
    delivery
}

/// A lane whose first message, `m-1`, is deferred under the returned number; `m-2` follows.
async fn deferred(process: &Process, endpoint: &EndpointId) -> (HeldLane, i64) {
    let batch = ["m-1", "m-2"].map(|id| message(id, "s"));
    process.send(endpoint, batch).await;
    let mut lane = process.accept(endpoint).await;
    let first = lane.expect_next("m-1").await;
    let number = first.sequence_number;
    let number = number.expect("a transport that defers numbers its messages");
    settled("deferring", first.receipt.settle(Settlement::Defer)).await;
    (lane, number)
}

/// SUB-33
async fn a_deferred_message_comes_only_by_its_number(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (mut lane, number) = deferred(&process, &endpoint).await;
    lane.complete_in_order(&["m-2"]).await;
    lane.nothing_to_receive().await;
    let delivery = expect_fetched(&mut lane, number, "m-1").await;
    settled("completing", delivery.receipt.complete()).await;
    let gone = fetch(&mut lane, number).await;
    assert!(gone.is_none(), "a completed message came again");
}

/// SUB-33
async fn a_number_that_was_not_deferred_finds_nothing(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (mut lane, number) = deferred(&process, &endpoint).await;
    let waiting = lane.expect_next("m-2").await;
    let not_deferred = waiting.sequence_number.expect("messages are numbered");
    for number in [not_deferred, number.wrapping_add(1_000), -1] {
        assert!(fetch(&mut lane, number).await.is_none());
    }
}

/// SUB-17: the continuation that fetches it is unsettled meanwhile.
async fn a_deferred_message_comes_beside_a_delivery_in_flight(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (mut lane, number) = deferred(&process, &endpoint).await;
    let in_flight = lane.expect_next("m-2").await;
    let fetched = expect_fetched(&mut lane, number, "m-1").await;
    settled("completing the fetched one", fetched.receipt.complete()).await;
    settled("completing the other", in_flight.receipt.complete()).await;
    lane.nothing_to_receive().await;
}

/// SUB-33
async fn a_deferred_message_that_is_abandoned_stays_deferred(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (mut lane, number) = deferred(&process, &endpoint).await;
    lane.complete_in_order(&["m-2"]).await;
    let fetched = expect_fetched(&mut lane, number, "m-1").await;
    settled("abandoning", fetched.receipt.abandon(Duration::ZERO)).await;
    lane.nothing_to_receive().await;
    let fetched = expect_fetched(&mut lane, number, "m-1").await;
    settled("completing", fetched.receipt.complete()).await;
}

/// SUB-33
async fn a_deferred_message_outlasts_lane_and_lock(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let (mut lane, number) = deferred(&process, &endpoint).await;
    let unsettled = expect_fetched(&mut lane, number, "m-1").await;
    process.pass(lane.outlasting()).await;
    let mut lane = process.accept(&endpoint).await;
    lane.expect_next("m-2").await;
    lane.release().await;
    let mut lane = process.accept(&endpoint).await;
    let fetched = expect_fetched(&mut lane, number, "m-1").await;
    settled("completing", fetched.receipt.complete()).await;
    drop(unsettled);
}

/// SUB-33
async fn deferral_is_refused_as_unsupported(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    let delivery = lane.next().await;
    let deferred = delivery.receipt.settle(Settlement::Defer).await;
    let kind = deferred.map_err(|error| error.kind());
    assert_eq!(kind, Err(TransportErrorKind::Unsupported));
    let fetched = lane.0.receive_deferred(&session(), 1).await;
    let kind = fetched.map(|_| ()).map_err(|error| error.kind());
    assert_eq!(kind, Err(TransportErrorKind::Unsupported));
}
