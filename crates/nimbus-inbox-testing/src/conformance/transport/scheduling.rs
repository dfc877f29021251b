use std::time::Duration;

use nimbus_messaging::{ScheduledId, TransportErrorKind};

use super::subject::{HeldLane, Process, Subject, expect, message, settled};
use super::{TransportCase, cases};
use nimbus_inbox_core::EndpointId;

pub(super) const CASES: &[TransportCase] = cases![ScheduledSend:
    a_scheduled_message_comes_when_it_is_due_and_not_before,
    a_message_due_in_the_past_comes_at_once,
    scheduled_messages_come_in_the_order_of_their_due_times,
    a_scheduled_message_holds_up_no_other,
];

pub(super) const CANCEL_CASES: &[TransportCase] = cases![CancelScheduled:
    a_cancelled_message_does_not_come,
    a_message_that_was_delivered_can_not_be_cancelled,
];

pub(super) const UNSUPPORTED_CASES: &[TransportCase] = cases![NoScheduledSend:
    scheduling_is_refused_as_unsupported,
];

async fn schedule(
    process: &Process,
    endpoint: &EndpointId,
    id: &str,
    after: Duration,
) -> ScheduledId {
    let due = process.now().saturating_add(after);
    let sender = process.sender(endpoint).await;
    expect("scheduling", sender.schedule(message(id, "s"), due).await)
}

/// A lane of a session of its own, for the times that a case goes by.
async fn times(process: &Process, endpoint: &EndpointId) -> HeldLane {
    process.send(endpoint, [message("times", "times")]).await;
    let mut lane = process.accept(endpoint).await;
    lane.complete_in_order(&["times"]).await;
    lane
}

/// SUB-33
async fn a_scheduled_message_comes_when_it_is_due_and_not_before(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let moment = times(&process, &endpoint).await.moment();
    let due = process.now().saturating_add(moment * 2);
    schedule(&process, &endpoint, "m-1", moment * 2).await;
    for _ in 0..2 {
        let early = process.accept_within(&endpoint, process.briefly()).await;
        // A slow machine may have let the time pass by itself.
        let Some(mut lane) = early else {
            process.pass(moment).await;
            continue;
        };
        let delivery = lane.next().await;
        let now = process.now();
        assert!(now >= due, "it came at {now} and is not due before {due}");
        settled("completing", delivery.receipt.complete()).await;
        return;
    }
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-1"]).await;
    lane.nothing_to_receive().await;
}

/// SUB-33
async fn a_message_due_in_the_past_comes_at_once(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let past = process.now().saturating_sub(Duration::from_secs(3_600));
    let sender = process.sender(&endpoint).await;
    let scheduled = sender.schedule(message("m-1", "s"), past).await;
    expect("scheduling into the past", scheduled);
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-1"]).await;
}

/// SUB-33
async fn scheduled_messages_come_in_the_order_of_their_due_times(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let moment = times(&process, &endpoint).await.moment();
    schedule(&process, &endpoint, "later", moment * 2).await;
    schedule(&process, &endpoint, "sooner", moment).await;
    process.pass(moment * 2).await;
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["sooner", "later"]).await;
}

/// SUB-33
async fn a_scheduled_message_holds_up_no_other(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let moment = times(&process, &endpoint).await.moment();
    schedule(&process, &endpoint, "m-1", moment).await;
    process.send(&endpoint, [message("m-2", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-2"]).await;
    lane.nothing_to_receive().await;
    process.pass(moment).await;
    // It reaches a lane that is held already.
    lane.complete_in_order(&["m-1"]).await;
}

/// SUB-33
async fn a_cancelled_message_does_not_come(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let moment = times(&process, &endpoint).await.moment();
    let id = schedule(&process, &endpoint, "m-1", moment).await;
    schedule(&process, &endpoint, "m-2", moment).await;
    let sender = process.sender(&endpoint).await;
    let cancelled = expect("cancelling", sender.cancel_scheduled(&id).await);
    assert!(cancelled, "what waited was cancelled");
    let again = expect("cancelling again", sender.cancel_scheduled(&id).await);
    assert!(!again, "what was cancelled before can't be cancelled");
    process.pass(moment).await;
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-2"]).await;
    lane.nothing_to_receive().await;
}

/// SUB-33
async fn a_message_that_was_delivered_can_not_be_cancelled(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let moment = times(&process, &endpoint).await.moment();
    let id = schedule(&process, &endpoint, "m-1", moment).await;
    process.pass(moment).await;
    let mut lane = process.accept(&endpoint).await;
    let delivery = lane.expect_next("m-1").await;
    let sender = process.sender(&endpoint).await;
    let cancelled = expect("cancelling too late", sender.cancel_scheduled(&id).await);
    assert!(!cancelled, "what was delivered can't be cancelled");
    drop(delivery);
}

/// SUB-33
async fn scheduling_is_refused_as_unsupported(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let sender = process.sender(&endpoint).await;
    let scheduled = sender.schedule(message("m-1", "s"), process.now()).await;
    let kind = scheduled.map_err(|error| error.kind());
    assert_eq!(kind, Err(TransportErrorKind::Unsupported));
}
