//! A disk that fills up; a page limit stands in for it.

use std::num::NonZeroU32;

use nimbus_messaging::TransportErrorKind;
use nimbus_transport_embedded::EmbeddedOptions;

use crate::support::*;

fn with_pages(options: EmbeddedOptions, pages: u32) -> EmbeddedOptions {
    options.with_max_pages(NonZeroU32::new(pages).expect("not zero"))
}

/// A full disk refuses a batch as a whole and loses nothing that was confirmed; receiving makes
/// room, and sending goes on.
#[tokio::test]
async fn a_full_disk_refuses_whole_batches_and_recovers() {
    let machine = Machine::new();
    let transport = machine
        .process_with(with_pages(machine.options(), 200))
        .await;
    let sender = sender(&transport).await;
    let mut confirmed: Vec<String> = Vec::new();
    let error = loop {
        let batch: Vec<String> = (0..7).map(|n| format!("{}", confirmed.len() + n)).collect();
        let messages = batch.iter().map(|id| {
            let mut message = message("s", id);
            message.body = vec![b'x'; 3_000].into();
            message
        });
        match sender.send(messages.collect()).await {
            Ok(()) => confirmed.extend(batch),
            Err(error) => break error,
        }
    };
    assert_eq!(error.kind(), TransportErrorKind::Configuration, "{error}");
    assert!(error.to_string().contains("disk is full"), "{error}");
    assert!(!confirmed.is_empty());

    let mut lane = accept(&transport).await;
    assert_eq!(complete_all(&mut lane).await, confirmed);
    lane.release().await.expect("locked");
    send(&transport, &[("s", "after")]).await;
    assert_eq!(complete_all(&mut accept(&transport).await).await, ["after"]);
}

/// Messages survive even if the process ends while the disk is full.
#[tokio::test]
async fn a_full_disk_keeps_what_was_confirmed_over_a_restart() {
    let machine = Machine::new();
    let transport = machine
        .process_with(with_pages(machine.options(), 120))
        .await;
    let mut confirmed = 0_u64;
    let sender = sender(&transport).await;
    let large = || {
        let mut message = message("s", "large");
        message.body = vec![b'x'; 9_000].into();
        message
    };
    while sender.send(vec![large()]).await.is_ok() {
        confirmed += 1;
    }
    drop((sender, transport));
    let transport = machine.process().await;
    let counts = transport.inspector().queue("BillingEndpoint").await;
    assert_eq!(counts.expect("declared").ready, confirmed);
    send(&transport, &[("s", "after")]).await;
}
