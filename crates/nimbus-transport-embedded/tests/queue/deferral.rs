//! Broker-native deferral, which the older protocol uses (SUB-17).

use std::time::Duration;

use nimbus_messaging::{Settlement, TransportErrorKind};

use crate::support::*;

/// SUB-17: a deferred message leaves its line, and is fetched by its number while another message
/// of the session is unsettled.
#[tokio::test]
async fn a_deferred_message_is_fetched_by_its_number() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("s", "2")]).await;
    let mut lane = accept(&transport).await;
    let first = receive(&mut lane).await.expect("sent");
    let number = first.sequence_number.expect("the queue numbers");
    first
        .receipt
        .settle(Settlement::Defer)
        .await
        .expect("locked");

    let second = receive(&mut lane).await.expect("sent");
    assert_eq!(id(&second), "2");
    let fetch = lane.receive_deferred(&session("s"), number).await;
    let deferred = fetch.expect("locked").expect("deferred");
    assert_eq!((id(&deferred).as_str(), deferred.delivery_count), ("1", 2));
    let twice = lane.receive_deferred(&session("s"), number).await;
    assert!(twice.expect("locked").is_none(), "it is unsettled");

    deferred
        .receipt
        .abandon(Duration::ZERO)
        .await
        .expect("locked");
    let again = lane.receive_deferred(&session("s"), number).await;
    again
        .expect("locked")
        .expect("still deferred")
        .receipt
        .complete()
        .await
        .expect("locked");
    let gone = lane.receive_deferred(&session("s"), number).await;
    assert!(gone.expect("locked").is_none());
    second.receipt.complete().await.expect("locked");
    assert_eq!(receive_id(&mut lane).await, None);
}

/// After a crash the deferred message is there for the successor, and not for a receipt of before.
#[tokio::test]
async fn a_fetched_message_is_deferred_again_when_the_lock_ended() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("s", "2")]).await;
    let mut lane = accept(&transport).await;
    let first = receive(&mut lane).await.expect("sent");
    let number = first.sequence_number.expect("the queue numbers");
    first
        .receipt
        .settle(Settlement::Defer)
        .await
        .expect("locked");
    let fetched = lane.receive_deferred(&session("s"), number).await;
    let stale = fetched.expect("locked").expect("deferred");

    machine.clock.advance(LOCK);
    let mut successor = accept(&transport).await;
    let fetched = successor.receive_deferred(&session("s"), number).await;
    let fresh = fetched.expect("locked").expect("deferred");
    assert_lock_lost(stale.receipt.complete().await);
    let settled = fresh.receipt.settle(Settlement::DeadLetter {
        reason: "reason".to_owned(),
        description: String::new(),
    });
    settled.await.expect("locked");
    let counts = transport.inspector().queue("BillingEndpoint").await;
    let counts = counts.expect("declared");
    assert_eq!((counts.ready, counts.deferred, counts.dead), (1, 0, 1));
}

#[tokio::test]
async fn only_its_own_session_fetches_a_deferred_message() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("t", "2"), ("", "3")]).await;
    let mut lane = accept(&transport).await;
    let first = receive(&mut lane).await.expect("sent");
    let number = first.sequence_number.expect("the queue numbers");
    first
        .receipt
        .settle(Settlement::Defer)
        .await
        .expect("locked");
    let mut other = accept(&transport).await;
    for name in ["s", "t"] {
        let fetched = other.receive_deferred(&session(name), number).await;
        assert!(fetched.expect("locked").is_none(), "{name}");
    }
    // Without a session nobody could fetch it.
    let mut alone = accept(&transport).await;
    let delivery = receive(&mut alone).await.expect("sent");
    let refused = delivery.receipt.settle(Settlement::Defer).await;
    assert_eq!(
        refused.expect_err("no session").kind(),
        TransportErrorKind::Unsupported
    );
}
