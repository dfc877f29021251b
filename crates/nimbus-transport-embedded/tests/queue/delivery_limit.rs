//! Messages that are delivered too often.

use std::num::NonZeroU32;
use std::time::Duration;

use nimbus_messaging::Settlement;
use nimbus_transport_embedded::MAX_DELIVERY_COUNT_EXCEEDED;

use crate::support::*;

/// A message that kills its receiver each time goes to the dead-letter queue after its tenth
/// delivery, and the rest of its session goes on.
#[tokio::test]
async fn a_message_that_is_never_settled_is_set_aside_after_ten_deliveries() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "poison"), ("s", "next")]).await;
    for count in 1..=10 {
        let mut lane = accept(&transport).await;
        let delivery = receive(&mut lane).await.expect("within the limit");
        assert_eq!(
            (id(&delivery).as_str(), delivery.delivery_count),
            ("poison", count)
        );
        drop((delivery, lane));
        machine.clock.advance(LOCK);
    }
    assert_eq!(complete_all(&mut accept(&transport).await).await, ["next"]);
    let dead = transport
        .inspector()
        .dead_letters("BillingEndpoint", 10)
        .await;
    let [dead] = &dead.expect("declared")[..] else {
        panic!("one dead letter");
    };
    assert_eq!(dead.envelope.message_id.as_deref(), Some("poison"));
    assert_eq!(dead.reason, MAX_DELIVERY_COUNT_EXCEEDED);
    assert_eq!(dead.delivery_count, 10);
    assert!(
        dead.description.contains("10 times"),
        "{}",
        dead.description
    );
}

#[tokio::test]
async fn abandoning_counts_and_the_limit_is_an_option() {
    let machine = Machine::new();
    let limit = NonZeroU32::new(2).expect("not zero");
    let transport = machine
        .process_with(machine.options().with_delivery_limit(limit))
        .await;
    send(&transport, &[("s", "1"), ("s", "2")]).await;
    let mut lane = accept(&transport).await;
    for _ in 0..2 {
        let delivery = receive(&mut lane).await.expect("within the limit");
        delivery
            .receipt
            .abandon(Duration::ZERO)
            .await
            .expect("locked");
    }
    assert_eq!(complete_all(&mut lane).await, ["2"]);
}

/// SUB-22: reason and description of a dead letter are kept.
#[tokio::test]
async fn a_dead_letter_keeps_reason_and_description() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "bad"), ("s", "good")]).await;
    let mut lane = accept(&transport).await;
    let delivery = receive(&mut lane).await.expect("sent");
    let settled = delivery.receipt.settle(Settlement::DeadLetter {
        reason: "MalformedBody".to_owned(),
        description: "not JSON \u{2603}".to_owned(),
    });
    settled.await.expect("locked");
    assert_eq!(complete_all(&mut lane).await, ["good"]);
    let dead = transport
        .inspector()
        .dead_letters("billingendpoint", 10)
        .await;
    let dead = dead.expect("declared").remove(0);
    assert_eq!(
        (dead.reason.as_str(), dead.description.as_str()),
        ("MalformedBody", "not JSON \u{2603}")
    );
    assert_eq!((dead.delivery_count, dead.enqueued_at), (1, dead.dead_at));
}
