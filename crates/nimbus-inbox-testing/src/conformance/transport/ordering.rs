use std::time::Duration;

use super::subject::{Subject, id_of, message, settled};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Nothing:
    a_session_keeps_the_order_of_sending,
    sessions_do_not_wait_for_each_other,
    one_delivery_of_a_session_is_unsettled_at_a_time,
    messages_without_a_session_all_arrive,
    a_lane_receives_what_is_sent_while_it_is_held,
    endpoints_do_not_see_each_others_messages,
];

pub(super) const SESSION_LANE_CASES: &[TransportCase] = cases![SessionLanes:
    messages_without_a_session_do_not_wait_for_each_other,
];

pub(super) const SHARED_LANE_CASES: &[TransportCase] = cases![SharedLanes:
    sessions_that_share_a_lane_keep_their_order,
    one_delivery_of_a_shared_lane_is_unsettled_at_a_time,
];

/// SUB-33
async fn a_session_keeps_the_order_of_sending(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let [a, b] = process.apart(["a", "b"]);
    let ids: Vec<_> = (0..20).map(|number| format!("m-{number}")).collect();
    let (first, rest) = ids.split_at(10);
    let batch = first
        .iter()
        .flat_map(|id| [message(id, &a), message(id, &b)]);
    process.send(&endpoint, batch).await;
    for id in rest {
        process.send(&endpoint, [message(id, &b)]).await;
        process.send(&endpoint, [message(id, &a)]).await;
    }
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    for _ in 0..2 {
        let mut lane = process.accept(&endpoint).await;
        lane.complete_in_order(&ids).await;
        lane.nothing_to_receive().await;
        lane.release().await;
    }
    process.nothing_to_accept(&endpoint).await;
}

/// SUB-33
async fn sessions_do_not_wait_for_each_other(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let [a, b] = process.apart(["a", "b"]);
    let batch = [message("a-1", &a), message("a-2", &a), message("b-1", &b)];
    process.send(&endpoint, batch).await;
    let mut one = process.accept(&endpoint).await;
    let held = one.next().await;
    let mut other = process.accept(&endpoint).await;
    let overtaking = other.next().await;
    let mut sessions = [&held, &overtaking].map(|delivery| delivery.envelope.session_id.clone());
    sessions.sort();
    assert_eq!(sessions, [Some(a), Some(b)]);
    settled("completing the later one", overtaking.receipt.complete()).await;
    settled("completing the earlier one", held.receipt.complete()).await;
}

/// SUB-33
async fn one_delivery_of_a_session_is_unsettled_at_a_time(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let batch = [message("m-1", "s"), message("m-2", "s")];
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    let first = lane.expect_next("m-1").await;
    lane.nothing_to_receive().await;
    settled("completing", first.receipt.complete()).await;
    lane.complete_in_order(&["m-2"]).await;
}

/// SUB-33
async fn messages_without_a_session_all_arrive(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let ids: Vec<_> = (0..9).map(|number| format!("m-{number}")).collect();
    let batch = ids.iter().map(|id| {
        let mut message = message(id, "");
        message.session_id = None;
        message
    });
    process.send(&endpoint, batch).await;
    let arrived = process.complete_any(&endpoint, ids.len()).await;
    assert!(arrived.iter().all(|message| message.session_id.is_none()));
    let mut arrived: Vec<_> = arrived
        .into_iter()
        .filter_map(|one| one.message_id)
        .collect();
    arrived.sort();
    assert_eq!(arrived, ids);
}

/// SUB-33
async fn sessions_that_share_a_lane_keep_their_order(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let sessions = process.together(["a", "b", "c"]);
    let ids: Vec<_> = (0..30).map(|number| format!("m-{number}")).collect();
    for (number, id) in ids.iter().enumerate() {
        let session = &sessions[number % sessions.len()];
        process.send(&endpoint, [message(id, session)]).await;
    }
    let mut lane = process.accept(&endpoint).await;
    let ids: Vec<_> = ids.iter().map(String::as_str).collect();
    let (first, rest) = ids.split_at(10);
    lane.complete_in_order(first).await;
    // Giving back what another session of the lane follows loses nobody's place.
    let delivery = lane.expect_next(rest[0]).await;
    settled("abandoning", delivery.receipt.abandon(Duration::ZERO)).await;
    let unsettled = lane.expect_next(rest[0]).await;
    lane.release().await;
    drop(unsettled);
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(rest).await;
}

/// SUB-33: the lane is what is locked, so sessions in it are never handled side by side.
async fn one_delivery_of_a_shared_lane_is_unsettled_at_a_time(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let [a, b] = process.together(["a", "b"]);
    let batch = [message("a-1", &a), message("b-1", &b)];
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    let first = lane.expect_next("a-1").await;
    lane.nothing_to_receive().await;
    process.nothing_to_accept(&endpoint).await;
    settled("completing", first.receipt.complete()).await;
    lane.complete_in_order(&["b-1"]).await;
}

/// SUB-33
async fn messages_without_a_session_do_not_wait_for_each_other(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let batch = ["m-1", "m-2", "m-3"].map(|id| {
        let mut message = message(id, "");
        message.session_id = None;
        message
    });
    process.send(&endpoint, batch).await;
    let mut held = Vec::new();
    let mut ids = Vec::new();
    for _ in 0..3 {
        let mut lane = process.accept(&endpoint).await;
        let delivery = lane.next().await;
        assert_eq!(delivery.envelope.session_id, None);
        ids.extend(id_of(&delivery).map(str::to_owned));
        held.push((lane, delivery));
    }
    ids.sort();
    assert_eq!(ids, ["m-1", "m-2", "m-3"]);
    for (lane, delivery) in held.into_iter().rev() {
        settled("completing", delivery.receipt.complete()).await;
        lane.release().await;
    }
    process.nothing_to_accept(&endpoint).await;
}

/// SUB-33
async fn a_lane_receives_what_is_sent_while_it_is_held(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, [message("m-1", "s")]).await;
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-1"]).await;
    let receiving = tokio::spawn(async move { lane.expect_next("m-2").await });
    tokio::task::yield_now().await;
    process.send(&endpoint, [message("m-2", "s")]).await;
    let delivery = receiving.await.expect("the message reaches the held lane");
    settled("completing", delivery.receipt.complete()).await;
}

/// SUB-33
async fn endpoints_do_not_see_each_others_messages(subject: Subject) {
    let process = subject.connect().await;
    let billing = process.declare("Billing").await;
    let shipping = process.declare("Shipping").await;
    process.send(&billing, [message("b-1", "s")]).await;
    process.nothing_to_accept(&shipping).await;
    process.send(&shipping, [message("s-1", "s")]).await;
    // The same session name at two endpoints is two sessions.
    let mut at_billing = process.accept(&billing).await;
    let mut at_shipping = process.accept(&shipping).await;
    at_shipping.complete_in_order(&["s-1"]).await;
    at_billing.complete_in_order(&["b-1"]).await;
    at_billing.nothing_to_receive().await;
}
