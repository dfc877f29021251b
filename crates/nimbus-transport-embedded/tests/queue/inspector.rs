//! Looking into queues and moving messages by hand.

use nimbus_messaging::{Address, Settlement, Transport, TransportErrorKind};

use crate::support::*;

/// A dead letter that is sent again keeps its id, starts to count again and stands at the end.
#[tokio::test]
async fn a_dead_letter_is_resubmitted_to_the_end_of_its_line() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("s", "2")]).await;
    let mut lane = accept(&transport).await;
    let delivery = receive(&mut lane).await.expect("sent");
    let settled = delivery.receipt.settle(Settlement::DeadLetter {
        reason: "reason".to_owned(),
        description: String::new(),
    });
    settled.await.expect("locked");
    let inspector = transport.inspector();
    let dead = inspector
        .dead_letters("BillingEndpoint", 10)
        .await
        .expect("declared");
    let number = dead[0].sequence_number;
    assert!(
        !inspector
            .resubmit("Resolver", number)
            .await
            .expect("declared"),
        "of another queue"
    );
    assert!(
        inspector
            .resubmit("BillingEndpoint", number)
            .await
            .expect("declared")
    );
    assert!(
        !inspector
            .resubmit("BillingEndpoint", number)
            .await
            .expect("declared")
    );
    let next = receive(&mut lane).await.expect("sent");
    assert_eq!(id(&next), "2");
    next.receipt.complete().await.expect("locked");
    let again = receive(&mut lane).await.expect("resubmitted");
    assert_eq!((id(&again).as_str(), again.delivery_count), ("1", 1));
}

#[tokio::test]
async fn dead_letters_are_listed_and_purged() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("s", "2"), ("s", "3")]).await;
    let mut lane = accept(&transport).await;
    for _ in 0..2 {
        let delivery = receive(&mut lane).await.expect("sent");
        let settled = delivery.receipt.settle(Settlement::DeadLetter {
            reason: "reason".to_owned(),
            description: String::new(),
        });
        settled.await.expect("locked");
    }
    let inspector = transport.inspector();
    assert_eq!(
        inspector
            .dead_letters("BillingEndpoint", 1)
            .await
            .expect("declared")
            .len(),
        1
    );
    assert_eq!(
        inspector
            .purge_dead_letters("BillingEndpoint")
            .await
            .expect("declared"),
        2
    );
    assert_eq!(
        inspector
            .purge_dead_letters("BillingEndpoint")
            .await
            .expect("declared"),
        0
    );
    assert_eq!(complete_all(&mut lane).await, ["3"]);
}

/// Draining takes what is due and free, session by session in order, and leaves the rest.
#[tokio::test]
async fn draining_takes_what_nobody_holds() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let resolver = transport
        .sender(&Address::RESOLVER)
        .await
        .expect("well known");
    let sent = [("s", "1"), ("t", "2"), ("s", "3"), ("", "4")];
    let messages = sent.iter().map(|(session, id)| message(session, id));
    resolver.send(messages.collect()).await.expect("declared");
    let inspector = transport.inspector();
    let drained = |messages: Vec<nimbus_messaging::Envelope>| -> Vec<String> {
        messages
            .into_iter()
            .filter_map(|message| message.message_id)
            .collect()
    };
    let first = inspector.drain("Resolver", 1).await.expect("declared");
    assert_eq!(drained(first), ["1"]);
    let rest = inspector.drain("Resolver", 100).await.expect("declared");
    assert_eq!(drained(rest), ["2", "3", "4"]);
    assert_eq!(
        inspector.queue("Resolver").await.expect("declared").lanes,
        0
    );

    send(&transport, &[("s", "held"), ("t", "free")]).await;
    let mut lane = accept(&transport).await;
    let free = inspector
        .drain("BillingEndpoint", 100)
        .await
        .expect("declared");
    assert_eq!(drained(free), ["free"]);
    assert_eq!(complete_all(&mut lane).await, ["held"]);
}

#[tokio::test]
async fn a_queue_that_is_not_declared_is_an_error() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let error = transport
        .inspector()
        .queue("Nobody")
        .await
        .expect_err("unknown");
    assert_eq!(error.kind(), TransportErrorKind::Unroutable);
}
