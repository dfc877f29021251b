use std::time::Duration;

use nimbus_messaging::{Settlement, TransportErrorKind};
use tokio::time::timeout;

use super::subject::{PATIENCE, Subject, expect, expect_lock_lost, id_of, message, settled};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Nothing:
    a_lane_is_held_by_one_receiver,
    a_lock_that_ran_out_lets_another_receive,
    a_renewed_lock_outlasts_its_first_term,
    a_holder_learns_that_its_lock_ran_out,
    settling_after_the_lock_ran_out_is_never_success,
    settling_after_a_release_is_never_success,
    a_late_holder_does_not_disturb_its_successor,
];

/// SUB-33
async fn a_lane_is_held_by_one_receiver(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    other.nothing_to_accept(&endpoint).await;
    process.nothing_to_accept(&endpoint).await;
    lane.complete_in_order(&["m-1"]).await;

    let waiting = {
        let (other, endpoint) = (other.clone(), endpoint.clone());
        tokio::spawn(async move { other.accept(&endpoint).await })
    };
    tokio::time::sleep(process.briefly()).await;
    assert!(!waiting.is_finished(), "a held lane was handed out again");
    lane.release().await;
    let mut lane = waiting.await.expect("the released lane is handed out");
    lane.complete_in_order(&["m-2"]).await;
}

/// SUB-33
async fn a_lock_that_ran_out_lets_another_receive(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    let held = lane.expect_next("m-1").await;
    process.pass(lane.outlasting()).await;
    let mut successor = other.accept(&endpoint).await;
    successor.complete_in_order(&["m-1", "m-2"]).await;
    drop((held, lane));
}

/// SUB-33
async fn a_renewed_lock_outlasts_its_first_term(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    let held = lane.next().await;
    let two_thirds = lane.moment() * 2;
    for _ in 0..2 {
        process.pass(two_thirds).await;
        expect("renewing", lane.0.lock().renew().await);
    }
    other.nothing_to_accept(&endpoint).await;
    assert!(!lane.0.lock().lost().is_cancelled());
    settled("completing after renewals", held.receipt.complete()).await;
}

/// SUB-33
async fn a_holder_learns_that_its_lock_ran_out(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    let lost = lane.0.lock().lost();
    assert!(!lost.is_cancelled());
    process.pass(lane.outlasting()).await;
    expect_lock_lost("renewing a lock that ran out", lane.0.lock().renew().await);
    let received = lane.0.receive(Duration::ZERO).await;
    expect_lock_lost("receiving under a lock that ran out", received);
    let told = timeout(PATIENCE, lost.cancelled()).await;
    told.expect("the token of a lost lock is cancelled");
}

/// SUB-33
async fn settling_after_the_lock_ran_out_is_never_success(subject: Subject) {
    let process = subject.connect().await;
    let mut settlements = vec![
        Settlement::Complete,
        Settlement::Abandon {
            delay: Duration::ZERO,
        },
        Settlement::DeadLetter {
            reason: "Late".to_owned(),
            description: "after the lock".to_owned(),
        },
    ];
    if process.transport.capabilities().deferral {
        settlements.push(Settlement::Defer);
    }
    for (number, settlement) in settlements.into_iter().enumerate() {
        let endpoint = process.declare(&format!("Billing{number}")).await;
        process.send(&endpoint, [message("m-1", "s")]).await;
        let mut lane = process.accept(&endpoint).await;
        let late = lane.next().await;
        process.pass(lane.outlasting()).await;
        let what = format!("{settlement:?} after the lock ran out");
        expect_lock_lost(&what, late.receipt.settle(settlement).await);
        // Whatever it answered, the message must still be there.
        let mut lane = process.accept(&endpoint).await;
        lane.complete_in_order(&["m-1"]).await;
    }
}

/// SUB-33
async fn settling_after_a_release_is_never_success(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    let late = lane.next().await;
    lane.release().await;
    let settlement = late.receipt.complete().await;
    expect_lock_lost("completing after a release", settlement);
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-1"]).await;
}

/// SUB-33
async fn a_late_holder_does_not_disturb_its_successor(subject: Subject) {
    let (process, other) = (subject.connect().await, subject.connect().await);
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut late = process.accept(&endpoint).await;
    let its_delivery = late.next().await;
    process.pass(late.outlasting()).await;
    let mut successor = other.accept(&endpoint).await;
    let delivery = successor.expect_next("m-1").await;

    let settlement = its_delivery.receipt.complete().await;
    expect_lock_lost("the late holder's settlement", settlement);
    expect_lock_lost("the late holder's renewal", late.0.lock().renew().await);
    let received = late.0.receive(Duration::ZERO).await;
    let received = received.map(|delivery| delivery.as_ref().and_then(id_of).map(str::to_owned));
    expect_lock_lost("the late holder's receive", received);
    // There is nothing left to give back, which a release may say or not.
    if let Err(error) = late.0.release().await {
        assert_eq!(error.kind(), TransportErrorKind::LockLost);
    }

    process.nothing_to_accept(&endpoint).await;
    settled("the successor's settlement", delivery.receipt.complete()).await;
    successor.complete_in_order(&["m-2"]).await;
}
