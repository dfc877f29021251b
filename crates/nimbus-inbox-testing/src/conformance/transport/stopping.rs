use nimbus_messaging::LaneSource;
use tokio::time::timeout;

use super::subject::{PATIENCE, Subject, expect, message, settled};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Nothing:
    a_stop_ends_a_pending_accept,
    a_stop_comes_before_the_accept,
    a_delivery_in_flight_settles_after_a_stop,
    a_stop_takes_nothing_from_other_receivers,
];

/// A stopped source must answer `None`, at once.
async fn expect_ended(lanes: &mut Box<dyn LaneSource>) {
    let ended = timeout(PATIENCE, lanes.accept_next()).await;
    let lane = expect("a stopped accept", ended.expect("a stopped accept ends"));
    assert!(lane.is_none(), "a stopped accept handed out {lane:?}");
}

/// SUB-33
async fn a_stop_ends_a_pending_accept(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let mut lanes = process.lanes(&endpoint).await;
    let stopper = lanes.stopper();
    let pending = tokio::spawn(async move {
        expect_ended(&mut lanes).await;
        lanes
    });
    tokio::time::sleep(process.briefly()).await;
    assert!(!pending.is_finished(), "an accept ended before the stop");
    stopper.stop();
    stopper.stop();
    let mut lanes = pending.await.expect("the accept ends with none");
    process.send(&endpoint, [message("m-1", "s")]).await;
    expect_ended(&mut lanes).await;
}

/// SUB-33
async fn a_stop_comes_before_the_accept(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lanes = process.lanes(&endpoint).await;
    lanes.stopper().stop();
    expect_ended(&mut lanes).await;
}

/// SUB-33
async fn a_delivery_in_flight_settles_after_a_stop(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lanes = process.lanes(&endpoint).await;
    let lane = expect("an accept", lanes.accept_next().await);
    let mut lane = lane.expect("a lane with work");
    let in_flight = expect("a receive", lane.receive(PATIENCE).await);
    let in_flight = in_flight.expect("a message is there");
    lanes.stopper().stop();
    expect_ended(&mut lanes).await;
    drop(lanes);
    settled("completing after a stop", in_flight.receipt.complete()).await;
    expect("a release after a stop", lane.release().await);
    let mut lane = other.accept(&endpoint).await;
    lane.complete_in_order(&["m-2"]).await;
}

/// SUB-33
async fn a_stop_takes_nothing_from_other_receivers(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.lanes(&endpoint).await.stopper().stop();
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-1"]).await;
}
