use super::subject::{HeldLane, PATIENCE, Process, Subject, expect, id_of, message, settled};
use super::{TransportCase, cases};
use crate::conformance::dropping::drop_after;

pub(super) const CASES: &[TransportCase] = cases![Nothing:
    a_receive_dropped_at_any_await_loses_nothing,
    a_waiting_receive_that_is_dropped_loses_nothing,
    a_send_dropped_at_any_await_doubles_and_reorders_nothing,
];

/// The session still has exactly these, whatever a dropped call had already taken.
async fn still_has(process: &Process, lane: HeldLane, ids: &[&str]) {
    lane.release().await;
    let endpoint = process.named("Billing");
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(ids).await;
    lane.nothing_to_receive().await;
    lane.release().await;
}

/// SUB-33
async fn a_receive_dropped_at_any_await_loses_nothing(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    for polls in 0.. {
        let batch = ["m-1", "m-2"].map(|id| message(id, &format!("s-{polls}")));
        process.send(&endpoint, batch).await;
        let mut lane = process.accept(&endpoint).await;
        let answer = drop_after(polls, lane.0.receive(PATIENCE)).await;
        if let Some(answer) = answer {
            let delivery = expect("an undisturbed receive", answer).expect("a message is there");
            assert_eq!(id_of(&delivery), Some("m-1"));
            settled("completing", delivery.receipt.complete()).await;
            return still_has(&process, lane, &["m-2"]).await;
        }
        still_has(&process, lane, &["m-1", "m-2"]).await;
    }
}

/// SUB-33
async fn a_waiting_receive_that_is_dropped_loses_nothing(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    for polls in 1..8 {
        let session = format!("s-{polls}");
        process.send(&endpoint, [message("m-1", &session)]).await;
        let mut lane = process.accept(&endpoint).await;
        lane.complete_in_order(&["m-1"]).await;
        let answer = drop_after(polls, lane.0.receive(lane.1)).await;
        if let Some(answer) = answer {
            assert!(expect("a receive of nothing", answer).is_none());
        }
        process.send(&endpoint, [message("m-2", &session)]).await;
        still_has(&process, lane, &["m-2"]).await;
    }
}

/// SUB-33
async fn a_send_dropped_at_any_await_doubles_and_reorders_nothing(subject: Subject) {
    let process = subject.connect().await;
    let ids = ["m-1", "m-2", "m-3"];
    for polls in 0.. {
        let endpoint = process.declare(&format!("Billing{polls}")).await;
        let sender = process.sender(&endpoint).await;
        let batch = ids.map(|id| message(id, "s")).to_vec();
        let answer = drop_after(polls, sender.send(batch)).await;
        process.send(&endpoint, [message("after", "s")]).await;

        let mut lane = process.accept(&endpoint).await;
        let mut arrived = Vec::new();
        while let Some(delivery) = lane.next_within(process.briefly()).await {
            arrived.extend(delivery.envelope.message_id);
            settled("completing", delivery.receipt.complete()).await;
        }
        // What was under way may still arrive after the message that was sent behind it.
        let batch: Vec<_> = arrived.iter().filter(|id| *id != "after").collect();
        assert!(
            batch.windows(2).all(|pair| pair[0] < pair[1]),
            "dropped after {polls} polls, a send arrived as {arrived:?}"
        );
        assert!(
            arrived.iter().any(|id| id == "after"),
            "a send after one that was dropped did not arrive"
        );
        if let Some(answer) = answer {
            expect("an undisturbed send", answer);
            assert_eq!(arrived, ["m-1", "m-2", "m-3", "after"]);
            return;
        }
    }
}
