//! Messages that are too large.

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Envelope, TransportErrorKind};

use crate::support::*;

#[tokio::test]
async fn a_message_beyond_the_limits_is_refused_and_nothing_of_its_batch_is_sent() {
    let machine = Machine::new();
    let options = machine
        .options()
        .with_message_size_limit(1_000)
        .with_property_limit(2);
    let transport = machine.process_with(options).await;
    let large = Envelope {
        body: vec![b'x'; 1_001].into(),
        ..message("s", "large")
    };
    let long = message("s", &"x".repeat(1_001));
    let mut many = message("s", "many");
    for name in ["a", "b", "c"] {
        many.properties.set(name, "");
    }
    let sender = sender(&transport).await;
    for refused in [large, long, many] {
        let batch = sender
            .send(vec![message("s", "good"), refused.clone()])
            .await;
        let error = batch.expect_err("too large");
        assert_eq!(error.kind(), TransportErrorKind::InvalidInput, "{error}");
        assert!(!error.to_string().contains("body of"), "{error}");
        let scheduled = sender.schedule(refused, Timestamp::UNIX_EPOCH).await;
        let error = scheduled.expect_err("too large");
        assert_eq!(error.kind(), TransportErrorKind::InvalidInput, "{error}");
    }
    let counts = transport.inspector().queue("BillingEndpoint").await;
    assert_eq!(counts.expect("declared").ready, 0);
    sender.send(Vec::new()).await.expect("nothing to do");
}

/// A 600-character id is the inbox's business, not the queue's.
#[tokio::test]
async fn a_long_id_is_carried() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let long = "i".repeat(600);
    send(&transport, &[(&long, &long)]).await;
    assert_eq!(receive_id(&mut accept(&transport).await).await, Some(long));
}
