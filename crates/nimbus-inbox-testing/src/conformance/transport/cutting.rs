use std::sync::Arc;

use nimbus_messaging::{Address, TransportError};
use tokio::sync::Barrier;

use super::subject::{PATIENCE, Subject, expect, message, settled};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Cut:
    what_was_confirmed_while_connections_broke_arrives,
    an_accept_goes_on_after_a_cut,
];

/// How often a case tries again after a cut before it gives up.
const TRIES: usize = 100;

fn is_transient(error: &TransportError) {
    assert!(
        error.is_transient(),
        "after a cut: {:?}: {error}",
        error.kind()
    );
}

async fn what_was_confirmed_while_connections_broke_arrives(subject: Subject) {
    const MESSAGES: usize = 60;
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let started = Arc::new(Barrier::new(2));
    let sending = {
        let (process, endpoint) = (process.clone(), endpoint.clone());
        let started = Arc::clone(&started);
        tokio::spawn(async move {
            let mut confirmed = Vec::new();
            for number in 0..MESSAGES {
                if number == MESSAGES / 3 {
                    started.wait().await;
                }
                let id = format!("m-{number:02}");
                let address = Address::new(endpoint.as_str());
                let sent = match process.transport.sender(&address).await {
                    Ok(sender) => sender.send(vec![message(&id, "s")]).await,
                    Err(error) => Err(error),
                };
                match sent {
                    Ok(()) => confirmed.push(id),
                    Err(error) => is_transient(&error),
                }
            }
            confirmed
        })
    };
    started.wait().await;
    process.cut().await;
    let confirmed = sending.await.expect("only the cut fails sends");
    assert!(confirmed.len() >= MESSAGES / 3);
    process.send(&endpoint, [message("last", "s")]).await;

    let mut lane = process.accept(&endpoint).await;
    let mut arrived = Vec::new();
    while arrived.last().is_none_or(|id| id != "last") {
        let delivery = lane.next().await;
        arrived.extend(delivery.envelope.message_id);
        settled("completing", delivery.receipt.complete()).await;
    }
    let lost: Vec<_> = confirmed
        .iter()
        .filter(|id| !arrived.contains(*id))
        .collect();
    assert!(lost.is_empty(), "confirmed and lost: {lost:?}");
}

async fn an_accept_goes_on_after_a_cut(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let mut lanes = process.lanes(&endpoint).await;
    let accepting = tokio::spawn(async move {
        for _ in 0..TRIES {
            match lanes.accept_next().await {
                Ok(lane) => return lane.expect("nobody stopped it"),
                Err(error) => is_transient(&error),
            }
        }
        panic!("no accept after a cut went through in {TRIES} tries");
    });
    tokio::task::yield_now().await;
    process.cut().await;
    let sender = process.sender(&endpoint).await;
    let sent = sender.send(vec![message("m-1", "s")]).await;
    expect("a send after a cut", sent);
    let mut lane = accepting.await.expect("an accept after a cut");
    let delivery = expect("a receive after a cut", lane.receive(PATIENCE).await);
    let delivery = delivery.expect("the message is there");
    settled("completing after a cut", delivery.receipt.complete()).await;
}
