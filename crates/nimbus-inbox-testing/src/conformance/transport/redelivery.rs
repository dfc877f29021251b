use std::time::Duration;

use super::subject::{Subject, message, settled};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Nothing:
    an_abandoned_delivery_comes_again_before_what_follows,
    an_abandoned_delivery_holds_its_session_for_its_delay,
    a_delay_holds_its_session_for_other_receivers_too,
    a_released_lane_gives_back_what_is_unsettled_in_order,
    what_was_settled_does_not_come_again,
    a_dropped_receipt_settles_nothing,
    every_delivery_is_counted,
    a_message_keeps_its_number_and_time,
];

/// SUB-33
async fn an_abandoned_delivery_comes_again_before_what_follows(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    let first = lane.expect_next("m-1").await;
    settled("abandoning", first.receipt.abandon(Duration::ZERO)).await;
    lane.complete_in_order(&["m-1", "m-2"]).await;
    lane.nothing_to_receive().await;
}

/// SUB-33
async fn an_abandoned_delivery_holds_its_session_for_its_delay(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    let delay = lane.moment();
    let first = lane.expect_next("m-1").await;
    settled("abandoning", first.receipt.abandon(delay)).await;
    lane.nothing_to_receive().await;
    process.pass(delay).await;
    lane.complete_in_order(&["m-1", "m-2"]).await;
}

/// SUB-33
async fn a_delay_holds_its_session_for_other_receivers_too(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    let delay = lane.moment();
    let first = lane.expect_next("m-1").await;
    settled("abandoning", first.receipt.abandon(delay)).await;
    lane.release().await;

    // A lane of it may be handed out early, but not what is in it.
    if let Some(mut early) = other.accept_within(&endpoint, process.briefly()).await {
        early.nothing_to_receive().await;
        early.release().await;
    }
    process.pass(delay).await;
    let mut lane = other.accept(&endpoint).await;
    lane.complete_in_order(&["m-1", "m-2"]).await;
}

/// SUB-33
async fn a_released_lane_gives_back_what_is_unsettled_in_order(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2", "m-3"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-1"]).await;
    let unsettled = lane.expect_next("m-2").await;
    lane.release().await;
    let mut lane = other.accept(&endpoint).await;
    lane.complete_in_order(&["m-2", "m-3"]).await;
    drop(unsettled);
}

/// SUB-33
async fn what_was_settled_does_not_come_again(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-1"]).await;
    process.pass(lane.outlasting()).await;
    other.nothing_to_accept(&endpoint).await;
}

/// SUB-33
async fn a_dropped_receipt_settles_nothing(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    drop(lane.expect_next("m-1").await.receipt);
    lane.nothing_to_receive().await;
    lane.release().await;
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-1"]).await;
}

/// SUB-33
async fn every_delivery_is_counted(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    let first = lane.next().await;
    assert_eq!(first.delivery_count, 1);
    settled("abandoning", first.receipt.abandon(Duration::ZERO)).await;
    // A lock that runs out counts as well: so does the crash it stands for.
    let second = lane.next().await;
    assert_eq!(second.delivery_count, 2, "after an abandon");
    process.pass(lane.outlasting()).await;
    let mut lane = process.accept(&endpoint).await;
    let third = lane.next().await;
    assert_eq!(third.delivery_count, 3, "after a lock that ran out");
    settled("completing", third.receipt.complete()).await;
}

/// SUB-33
async fn a_message_keeps_its_number_and_time(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    let first = lane.next().await;
    let told = (first.sequence_number, first.enqueued_at);
    settled("abandoning", first.receipt.abandon(Duration::ZERO)).await;
    process.pass(lane.moment()).await;
    let again = lane.next().await;
    assert_eq!((again.sequence_number, again.enqueued_at), told);
}
