//! Messages that are due later.

use std::time::Duration;

use nimbus_inbox_core::Clock;
use nimbus_messaging::{ScheduledId, TransportErrorKind};
use nimbus_transport_embedded::Durability;

use crate::support::*;

const DELAY: Duration = Duration::from_secs(60);

/// SUB-10: a scheduled message joins the end of its session's line when it is due, also after a
/// restart.
#[tokio::test]
async fn a_scheduled_message_stands_behind_what_was_sent_before_it_was_due() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let due = machine.clock.now().saturating_add(DELAY);
    sender(&transport)
        .await
        .schedule(message("s", "scheduled"), due)
        .await
        .expect("declared");
    drop(transport);
    let transport = machine.process().await;
    send(&transport, &[("s", "before")]).await;
    let mut lane = accept(&transport).await;
    assert_eq!(complete_all(&mut lane).await, ["before"]);
    lane.release().await.expect("locked");

    machine.clock.advance(DELAY);
    send(&transport, &[("s", "after")]).await;
    let mut lane = accept(&transport).await;
    let first = receive(&mut lane).await.expect("due");
    assert_eq!(id(&first), "scheduled");
    assert_eq!(first.enqueued_at, Some(due), "it waited since it was due");
    first.receipt.complete().await.expect("locked");
    assert_eq!(complete_all(&mut lane).await, ["after"]);
}

/// The retry of a session that somebody holds arrives in the lane that is held.
#[tokio::test]
async fn a_scheduled_message_arrives_in_a_held_lane() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1")]).await;
    let mut lane = accept(&transport).await;
    assert_eq!(complete_all(&mut lane).await, ["1"]);
    let delay = LOCK / 2;
    let due = machine.clock.now().saturating_add(delay);
    let retry = message("s", "retry");
    sender(&transport)
        .await
        .schedule(retry, due)
        .await
        .expect("declared");
    assert_eq!(receive_id(&mut lane).await, None);
    let clock = machine.clock.clone();
    let (retry, ()) = tokio::join!(lane.receive(PATIENCE), async {
        all_before_acted(&transport).await;
        clock.advance(delay);
    });
    assert_eq!(
        retry.expect("locked").map(|retry| id(&retry)).as_deref(),
        Some("retry")
    );
}

/// Messages that became due together come in the order of their instants, very many of them too.
#[tokio::test]
async fn many_scheduled_messages_come_in_the_order_of_their_instants() {
    let machine = Machine::new();
    let transport = machine
        .process_with(machine.options().with_durability(Durability::Normal))
        .await;
    let sender = sender(&transport).await;
    let start = machine.clock.now();
    let mut expected = Vec::new();
    for index in (0..600_u32).rev() {
        let due = start.saturating_add(Duration::from_secs(u64::from(index)));
        let sent = sender.schedule(message("s", &index.to_string()), due);
        sent.await.expect("declared");
        expected.insert(0, index.to_string());
    }
    machine.clock.advance(Duration::from_secs(600));
    assert_eq!(complete_all(&mut accept(&transport).await).await, expected);
}

#[tokio::test]
async fn a_schedule_is_withdrawn_once_and_only_before_it_is_due() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let sender = sender(&transport).await;
    let due = machine.clock.now().saturating_add(DELAY);
    let withdrawn = sender.schedule(message("s", "withdrawn"), due).await;
    let withdrawn = withdrawn.expect("declared");
    let kept = sender
        .schedule(message("s", "kept"), due)
        .await
        .expect("declared");
    assert!(sender.cancel_scheduled(&withdrawn).await.expect("an id"));
    assert!(!sender.cancel_scheduled(&withdrawn).await.expect("an id"));
    machine.clock.advance(DELAY);
    assert!(
        !sender.cancel_scheduled(&kept).await.expect("an id"),
        "it is due"
    );
    assert_eq!(complete_all(&mut accept(&transport).await).await, ["kept"]);
    assert!(!sender.cancel_scheduled(&kept).await.expect("an id"));

    let foreign = ScheduledId("of another broker".to_owned());
    let error = sender
        .cancel_scheduled(&foreign)
        .await
        .expect_err("not ours");
    assert_eq!(error.kind(), TransportErrorKind::InvalidInput);
}
