use std::collections::BTreeMap;

use futures_util::future::try_join_all;
use nimbus_messaging::{Address, TransportErrorKind};

use super::subject::{Subject, message};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Nothing:
    an_address_that_nothing_receives_from_is_unroutable,
    an_address_is_found_in_any_ascii_case,
    an_empty_batch_sends_nothing,
    many_senders_lose_and_double_nothing,
];

/// SUB-33
async fn an_address_that_nothing_receives_from_is_unroutable(subject: Subject) {
    let process = subject.connect().await;
    let nowhere = process.named("Nowhere");
    let address = Address::new(nowhere.as_str());
    // It may show when the sender is opened.
    let sent = match process.transport.sender(&address).await {
        Ok(sender) => sender.send(vec![message("m-1", "s")]).await,
        Err(error) => Err(error),
    };
    let kind = sent.map_err(|error| error.kind());
    assert_eq!(kind, Err(TransportErrorKind::Unroutable));
}

/// SUB-04
async fn an_address_is_found_in_any_ascii_case(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    for (id, name) in [
        ("m-1", endpoint.as_str().to_ascii_uppercase()),
        ("m-2", endpoint.as_str().to_ascii_lowercase()),
    ] {
        let sender = process.transport.sender(&Address::new(name)).await;
        let sender = sender.expect("a sender in another case");
        let sent = sender.send(vec![message(id, "s")]).await;
        sent.expect("a send in another case");
    }
    let mut lane = process.accept(&endpoint).await;
    lane.complete_in_order(&["m-1", "m-2"]).await;
}

/// SUB-33
async fn an_empty_batch_sends_nothing(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    process.send(&endpoint, []).await;
    process.nothing_to_accept(&endpoint).await;
}

/// SUB-33
async fn many_senders_lose_and_double_nothing(subject: Subject) {
    const SENDERS: usize = 8;
    const MESSAGES: usize = 25;
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let sending = (0..SENDERS).map(|sender| {
        let (subject, endpoint) = (subject.clone(), endpoint.clone());
        tokio::spawn(async move {
            let process = subject.connect().await;
            for number in 0..MESSAGES {
                let id = format!("{sender}-{number:02}");
                process.send(&endpoint, [message(&id, "s")]).await;
            }
        })
    });
    try_join_all(sending)
        .await
        .expect("every send is confirmed");

    let mut lane = process.accept(&endpoint).await;
    let mut arrived: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for _ in 0..SENDERS * MESSAGES {
        let delivery = lane.next().await;
        let id = delivery.envelope.message_id.clone();
        let id = id.expect("every message has an id");
        lane.complete(delivery).await;
        let (sender, number) = id.split_once('-').expect("sender-number");
        let numbers = arrived.entry(sender.to_owned()).or_default();
        numbers.push(number.to_owned());
    }
    lane.nothing_to_receive().await;
    let in_order: Vec<_> = (0..MESSAGES).map(|number| format!("{number:02}")).collect();
    for (sender, numbers) in arrived {
        assert_eq!(numbers, in_order, "messages of sender {sender}");
    }
}
