use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use nimbus_inbox_testing::ServiceTests;
use nimbus_messaging::{Lane, LaneSource};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::support::{Ours, message};

const SESSIONS: usize = 20;
const MESSAGES: usize = 1_000;
const CUTS: usize = 5;

pub(crate) fn add(tests: ServiceTests) -> ServiceTests {
    tests.test(
        "a_thousand_messages_keep_their_order_while_connections_break",
        a_thousand_messages_keep_their_order_while_connections_break,
    )
}

#[derive(Default)]
struct Seen {
    /// Numbers by session, each where it was first completed.
    numbers: Mutex<BTreeMap<String, Vec<usize>>>,
    count: watch::Sender<usize>,
}

impl Seen {
    /// Notes a message before it is completed, as a handler's effect is.
    fn note(&self, session: String, number: usize) {
        let mut numbers = self.numbers.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = numbers.entry(session).or_default();
        if !seen.contains(&number) {
            seen.push(number);
            self.count.send_modify(|count| *count += 1);
        }
    }

    /// Waits until so many were noted.
    async fn reached(&self, wanted: usize) {
        let mut count = self.count.subscribe();
        let reached = count.wait_for(|count| *count >= wanted).await;
        reached.expect("the sender is here");
    }
}

/// SUB-30, SUB-33: whatever comes twice, nothing is overtaken and nothing is lost.
async fn a_thousand_messages_keep_their_order_while_connections_break() {
    let (ours, proxy) = Ours::behind_a_proxy().await;
    let sender = ours.sender().await;
    for batch in 0..MESSAGES / SESSIONS {
        let messages =
            (0..SESSIONS).map(|session| message(&batch.to_string(), &format!("s-{session}")));
        sender.send(messages.collect()).await.expect("a send");
    }
    let seen = Arc::new(Seen::default());
    let lanes = ours.lanes().await;
    let stopper = lanes.stopper();
    let receiving = tokio::spawn(receive(lanes, Arc::clone(&seen)));
    for cut in 1..=CUTS {
        seen.reached(cut * MESSAGES / (CUTS + 1)).await;
        proxy.cut();
    }
    seen.reached(MESSAGES).await;
    stopper.stop();
    receiving.await.expect("only cuts fail receivers");

    let in_order: Vec<_> = (0..MESSAGES / SESSIONS).collect();
    let numbers = seen.numbers.lock().unwrap_or_else(PoisonError::into_inner);
    assert_eq!(numbers.len(), SESSIONS);
    for (session, numbers) in &*numbers {
        assert_eq!(numbers, &in_order, "{session}");
    }
}

/// Works on four lanes at a time until it is stopped.
async fn receive(mut lanes: Box<dyn LaneSource>, seen: Arc<Seen>) {
    let mut working = JoinSet::new();
    loop {
        if working.len() >= 4 {
            working.join_next().await.expect("some").expect("no panic");
        }
        match lanes.accept_next().await {
            Ok(Some(lane)) => {
                working.spawn(drain(lane, Arc::clone(&seen)));
            }
            Ok(None) => return,
            Err(error) => {
                assert!(error.is_transient(), "{error}");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
}

async fn drain(mut lane: Box<dyn Lane>, seen: Arc<Seen>) {
    // Given back after a few, so that partitions go from hand to hand.
    for _ in 0..40 {
        let Ok(Some(delivery)) = lane.receive(Duration::from_millis(300)).await else {
            break;
        };
        let session = delivery.envelope.session_id.clone().expect("a session");
        let id = delivery.envelope.message_id.clone().expect("an id");
        seen.note(session, id.parse().expect("a number"));
        if delivery.receipt.complete().await.is_err() || lane.lock().renew().await.is_err() {
            break;
        }
    }
    // It may be lost already.
    let _ = lane.release().await;
}
