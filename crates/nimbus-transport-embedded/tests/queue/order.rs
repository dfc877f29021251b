//! Order within a session, and which session comes next.

use std::time::Duration;

use nimbus_messaging::{Envelope, PropertyValue};

use crate::support::*;

/// SUB-33: a session is received in the order in which it was sent, one message at a time.
#[tokio::test]
async fn a_session_is_received_in_order_one_message_at_a_time() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("t", "other"), ("s", "2")]).await;
    send(&transport, &[("s", "3")]).await;

    let mut lane = accept(&transport).await;
    let first = receive(&mut lane).await.expect("sent");
    assert_eq!(id(&first), "1");
    assert_eq!(receive_id(&mut lane).await, None, "the first is unsettled");
    first.receipt.complete().await.expect("locked");
    assert_eq!(complete_all(&mut lane).await, ["2", "3"]);
}

#[tokio::test]
async fn the_session_whose_head_waits_for_longest_comes_first() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("late", "b")]).await;
    machine.clock.rewind(Duration::from_secs(60));
    send(&transport, &[("early", "a")]).await;
    machine.clock.advance(Duration::from_secs(60));

    for expected in ["a", "b"] {
        let mut lane = accept(&transport).await;
        assert_eq!(receive_id(&mut lane).await.as_deref(), Some(expected));
    }
}

/// A clock that is set back between two sends changes no order within a session.
#[tokio::test]
async fn a_clock_that_is_set_back_keeps_the_order() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1")]).await;
    machine.clock.rewind(Duration::from_secs(3_600));
    send(&transport, &[("s", "2")]).await;
    machine.clock.advance(Duration::from_secs(3_600));
    assert_eq!(
        complete_all(&mut accept(&transport).await).await,
        ["1", "2"]
    );
}

/// SUB-05: messages without a session, or without any field at all, are lanes of their own.
#[tokio::test]
async fn messages_without_a_session_are_lanes_of_their_own() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let empty_name = Envelope {
        session_id: Some(String::new()),
        ..message("", "empty")
    };
    sender(&transport)
        .await
        .send(vec![message("", "1"), Envelope::default(), empty_name])
        .await
        .expect("declared");

    let mut held = Vec::new();
    for expected in [Some("1"), None, Some("empty")] {
        let mut lane = accept(&transport).await;
        let delivery = receive(&mut lane).await.expect("sent");
        assert_eq!(delivery.envelope.message_id.as_deref(), expected);
        held.push((lane, delivery));
    }
    for (mut lane, delivery) in held {
        delivery.receipt.complete().await.expect("locked");
        assert_eq!(receive_id(&mut lane).await, None);
        lane.release().await.expect("locked");
    }
    let counts = transport.inspector().queue("BillingEndpoint").await;
    let counts = counts.expect("declared");
    assert_eq!((counts.ready, counts.lanes), (0, 0));
}

/// Every field and every kind of property arrives as it was sent.
#[tokio::test]
async fn an_envelope_arrives_as_it_was_sent() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let mut sent = Envelope {
        message_id: Some("id \0 \u{1F980} '\"%".to_owned()),
        session_id: Some("s\0\u{e9}".to_owned()),
        correlation_id: Some("correlation".to_owned()),
        reply_to: Some("back".to_owned()),
        reply_to_session_id: Some(String::new()),
        content_type: None,
        body: vec![0, 159, 146, 150].into(),
        ..Envelope::default()
    };
    for (name, value) in [
        ("Text", PropertyValue::from("text")),
        ("Integer", PropertyValue::Integer(-7)),
        ("Float", PropertyValue::Float(0.1)),
        ("Boolean", PropertyValue::Boolean(true)),
        ("Instant", PropertyValue::Instant(17)),
    ] {
        sent.properties.set(name, value);
    }
    sender(&transport)
        .await
        .send(vec![sent.clone()])
        .await
        .expect("declared");
    let delivery = receive(&mut accept(&transport).await).await.expect("sent");
    assert_eq!(delivery.envelope, sent);
    assert_eq!(delivery.delivery_count, 1);
    assert!(delivery.enqueued_at.is_some() && delivery.sequence_number.is_some());
}

/// A session that was emptied and released starts again with the next message.
#[tokio::test]
async fn a_session_comes_back_after_it_was_emptied() {
    let machine = Machine::new();
    let transport = machine.process().await;
    for id in ["1", "2", "3"] {
        send(&transport, &[("s", id)]).await;
        let mut lane = accept(&transport).await;
        assert_eq!(complete_all(&mut lane).await, [id]);
        lane.release().await.expect("locked");
    }
    // Also while it is held.
    send(&transport, &[("s", "4")]).await;
    let mut lane = accept(&transport).await;
    assert_eq!(complete_all(&mut lane).await, ["4"]);
    send(&transport, &[("s", "5")]).await;
    assert_eq!(complete_all(&mut lane).await, ["5"]);
}
