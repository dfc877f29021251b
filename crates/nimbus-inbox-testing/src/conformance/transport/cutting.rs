use std::sync::Arc;

use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{Address, TransportError};
use tokio::sync::Barrier;

use super::subject::{PATIENCE, Process, Subject, expect, message, settled};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Cut:
    what_was_confirmed_while_connections_broke_arrives,
    an_accept_goes_on_after_a_cut,
];

/// How often a case tries again after a cut before it gives up. A transport may need a while to
/// connect again, and fails calls as transient meanwhile.
const TRIES: usize = 200;

async fn rest_after(process: &Process, error: &TransportError) {
    assert!(
        error.is_transient(),
        "a cut is a transient failure, not {:?}: {error}",
        error.kind()
    );
    tokio::time::sleep(process.briefly() / 10).await;
}

async fn try_send(
    process: &Process,
    endpoint: &EndpointId,
    id: &str,
) -> Result<(), TransportError> {
    let address = Address::new(endpoint.as_str());
    let sender = process.transport.sender(&address).await?;
    sender.send(vec![message(id, "s")]).await
}

async fn send_at_last(process: &Process, endpoint: &EndpointId, id: &str) {
    for _ in 0..TRIES {
        match try_send(process, endpoint, id).await {
            Ok(()) => return,
            Err(error) => rest_after(process, &error).await,
        }
    }
    panic!("no send after a cut went through in {TRIES} tries");
}

/// SUB-33
async fn what_was_confirmed_while_connections_broke_arrives(subject: Subject) {
    const CUTS: usize = 3;
    const MESSAGES: usize = 20;
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let meeting = Arc::new(Barrier::new(2));
    let sending = {
        let (process, endpoint) = (process.clone(), endpoint.clone());
        let meeting = Arc::clone(&meeting);
        tokio::spawn(async move {
            let mut confirmed = Vec::new();
            for number in 0..CUTS * MESSAGES {
                // The cut comes while some of what follows is under way.
                if number % MESSAGES == MESSAGES / 2 {
                    meeting.wait().await;
                }
                let id = format!("m-{number:02}");
                match try_send(&process, &endpoint, &id).await {
                    Ok(()) => confirmed.push(id),
                    Err(error) => rest_after(&process, &error).await,
                }
            }
            confirmed
        })
    };
    for _ in 0..CUTS {
        meeting.wait().await;
        process.cut().await;
    }
    let confirmed = sending.await.expect("only cuts fail sends");
    send_at_last(&process, &endpoint, "last").await;

    let mut lane = process.accept(&endpoint).await;
    let mut arrived = Vec::new();
    while arrived.last().is_none_or(|id| id != "last") {
        let delivery = lane.next().await;
        arrived.extend(delivery.envelope.message_id.clone());
        lane.complete(delivery).await;
    }
    let mut lost = confirmed.iter().filter(|id| !arrived.contains(*id));
    assert_eq!(lost.next(), None, "it was confirmed and is lost");
}

/// SUB-33
async fn an_accept_goes_on_after_a_cut(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let mut lanes = process.lanes(&endpoint).await;
    let resting = process.clone();
    let accepting = tokio::spawn(async move {
        for _ in 0..TRIES {
            match lanes.accept_next().await {
                Ok(lane) => return lane.expect("nobody stopped it"),
                Err(error) => rest_after(&resting, &error).await,
            }
        }
        panic!("no accept after a cut went through in {TRIES} tries");
    });
    tokio::task::yield_now().await;
    process.cut().await;
    send_at_last(&process, &endpoint, "m-1").await;
    let mut lane = accepting.await.expect("an accept after a cut");
    let delivery = expect("a receive after a cut", lane.receive(PATIENCE).await);
    let delivery = delivery.expect("the message is there");
    settled("completing after a cut", delivery.receipt.complete()).await;
}
