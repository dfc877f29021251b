use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::try_join_all;

use super::subject::{Subject, message, settled};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Nothing:
    no_two_receivers_hold_one_session,
];

const SESSIONS: usize = 6;
const MESSAGES: usize = 10;
const RECEIVERS: usize = 6;

/// What the receivers saw together.
#[derive(Default)]
struct Seen {
    held: BTreeMap<String, AtomicBool>,
    ids: Mutex<BTreeMap<String, Vec<String>>>,
    settled: AtomicUsize,
}

/// SUB-33
async fn no_two_receivers_hold_one_session(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let sessions: Vec<_> = (0..SESSIONS).map(|number| format!("s-{number}")).collect();
    for number in 0..MESSAGES {
        let id = format!("m-{number}");
        let batch = sessions.iter().map(|session| message(&id, session));
        process.send(&endpoint, batch).await;
    }
    let seen = Arc::new(Seen {
        held: sessions
            .iter()
            .map(|session| (session.clone(), AtomicBool::new(false)))
            .collect(),
        ..Seen::default()
    });

    let receivers = (0..RECEIVERS).map(|_| {
        let (subject, endpoint, seen) = (subject.clone(), endpoint.clone(), Arc::clone(&seen));
        tokio::spawn(async move {
            let process = subject.connect().await;
            let briefly = process.briefly();
            while seen.settled.load(Ordering::SeqCst) < SESSIONS * MESSAGES {
                let Some(mut lane) = process.accept_within(&endpoint, briefly).await else {
                    continue;
                };
                // Two at a time, so that sessions go from hand to hand.
                for _ in 0..2 {
                    let Some(delivery) = lane.next_within(briefly).await else {
                        break;
                    };
                    let session = delivery.envelope.session_id.expect("sent with a session");
                    let held = &seen.held[&session];
                    assert!(
                        !held.swap(true, Ordering::SeqCst),
                        "two receivers hold a delivery of {session} at once"
                    );
                    tokio::task::yield_now().await;
                    let id = delivery.envelope.message_id.expect("sent with an id");
                    seen.ids
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .entry(session)
                        .or_default()
                        .push(id);
                    held.store(false, Ordering::SeqCst);
                    settled("completing", delivery.receipt.complete()).await;
                    seen.settled.fetch_add(1, Ordering::SeqCst);
                }
                lane.release().await;
            }
        })
    });
    try_join_all(receivers).await.expect("no receiver failed");

    let in_order: Vec<_> = (0..MESSAGES).map(|number| format!("m-{number}")).collect();
    let ids = seen.ids.lock().unwrap_or_else(PoisonError::into_inner);
    for session in &sessions {
        assert_eq!(ids.get(session), Some(&in_order), "{session}");
    }
}
