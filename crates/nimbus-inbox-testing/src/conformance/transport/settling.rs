use std::time::Duration;

use nimbus_messaging::{Receipt, SettledSignal, Settlement, TransportError};

use super::subject::{Subject, expect, message, settled};
use super::under_test::DeadLettered;
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Nothing:
    a_dropped_signal_settles_all_the_same,
    a_dead_lettered_message_lets_the_next_one_through,
];

pub(super) const DEAD_LETTER_CASES: &[TransportCase] = cases![DeadLetters:
    a_dead_letter_keeps_reason_and_description,
];

pub(super) const LIMIT_CASES: &[TransportCase] = cases![DeliveryLimit:
    a_message_that_is_abandoned_too_often_is_dead_lettered,
    a_message_that_outlasts_too_many_locks_is_dead_lettered,
];

fn dead_letter(receipt: Receipt, reason: &str, description: &str) -> SettledSignal {
    receipt.settle(Settlement::DeadLetter {
        reason: reason.to_owned(),
        description: description.to_owned(),
    })
}

/// INB-14
async fn a_dropped_signal_settles_all_the_same(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    drop(lane.expect_next("m-1").await.receipt.complete());
    // The next one of the session comes only when the first is settled.
    lane.complete_in_order(&["m-2"]).await;
    lane.release().await;
    process.nothing_to_accept(&endpoint).await;
}

/// SUB-33
async fn a_dead_lettered_message_lets_the_next_one_through(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    let first = lane.expect_next("m-1").await;
    let signal = dead_letter(first.receipt, "Malformed", "no body");
    settled("dead-lettering", signal).await;
    lane.complete_in_order(&["m-2"]).await;
    lane.release().await;
    process.nothing_to_accept(&endpoint).await;
}

/// SUB-22
async fn a_dead_letter_keeps_reason_and_description(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let longest = "ß🚀\n".repeat(4_096 / 3);
    let told = [
        ("m-1", "Malformed", "the body is not JSON: \"{'\" at 1:2"),
        ("m-2", "Weird ≠ reason", longest.as_str()),
        ("m-3", "Silent", ""),
    ];
    let batch = told.map(|(id, _, _)| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    for (id, reason, description) in told {
        let delivery = lane.expect_next(id).await;
        let signal = dead_letter(delivery.receipt, reason, description);
        settled("dead-lettering", signal).await;
    }
    let kept = told.map(|(id, reason, description)| DeadLettered {
        message_id: Some(id.to_owned()),
        reason: reason.to_owned(),
        description: description.to_owned(),
    });
    let read = process.dead_letters(&endpoint).await;
    assert_eq!(expect("reading the dead letters", read), kept);
}

/// SUB-33
async fn a_message_that_is_abandoned_too_often_is_dead_lettered(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let batch = ["poison", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    for delivery_count in 1..=process.delivery_limit() {
        let delivery = lane.expect_next("poison").await;
        assert_eq!(delivery.delivery_count, delivery_count);
        settled("abandoning", delivery.receipt.abandon(Duration::ZERO)).await;
    }
    lane.complete_in_order(&["m-2"]).await;
    expect_one_dead_letter(&process.dead_letters(&endpoint).await);
}

/// SUB-33: a message that kills its process is never abandoned.
async fn a_message_that_outlasts_too_many_locks_is_dead_lettered(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let batch = ["poison", "m-2"].map(|id| message(id, "s"));
    process.send(&endpoint, batch).await;
    for _ in 0..process.delivery_limit() {
        let mut lane = process.accept(&endpoint).await;
        let in_flight = lane.expect_next("poison").await;
        process.pass(lane.outlasting()).await;
        drop((in_flight, lane));
    }
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-2"]).await;
    expect_one_dead_letter(&process.dead_letters(&endpoint).await);
}

fn expect_one_dead_letter(read: &Result<Vec<DeadLettered>, TransportError>) {
    let read = read.as_ref().expect("reading the dead letters");
    let ids: Vec<_> = read.iter().map(|kept| kept.message_id.as_deref()).collect();
    assert_eq!(ids, [Some("poison")]);
    assert!(!read[0].reason.is_empty(), "a dead letter says why");
}
