use std::collections::BTreeSet;

use super::subject::{Subject, message, settled};
use super::{TransportCase, cases};

pub(super) const CASES: &[TransportCase] = cases![Nothing:
    sessions_arrive_byte_by_byte,
    message_ids_arrive_byte_by_byte,
];

pub(super) const SESSION_LANE_CASES: &[TransportCase] = cases![SessionLanes:
    sessions_are_told_apart_byte_by_byte,
];

/// Names that differ from one another and are easily taken for one, or for something else.
pub(super) fn exotic() -> Vec<String> {
    let mut names: Vec<_> = [
        "a",
        "A",
        "a ",
        " a",
        "a\t",
        "a\n",
        "a\0",
        "a\0b",
        "\u{e9}",
        "e\u{301}",
        "ß",
        "ss",
        "'",
        "\"",
        "`",
        "''",
        "%",
        "_",
        "*",
        "#",
        "?",
        "a/b",
        "a\\b",
        "a@b",
        "a;b",
        "a,b",
        "a|b",
        "$",
        "..",
        "{}",
        "null",
        "0",
        "-1",
        "🚀",
        "\u{202e}b",
        "\u{feff}a",
    ]
    .map(str::to_owned)
    .to_vec();
    // The longest that every broker takes, different only at the end.
    names.extend(["x", "y"].map(|end| "l".repeat(127) + end));
    names
}

/// SUB-33
async fn sessions_arrive_byte_by_byte(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let names = exotic();
    let batch = names.iter().map(|name| message(name, name));
    process.send(&endpoint, batch).await;
    let mut seen = BTreeSet::new();
    for arrived in process.complete_any(&endpoint, names.len()).await {
        assert_eq!(arrived.session_id, arrived.message_id);
        seen.extend(arrived.session_id);
    }
    assert_eq!(seen, names.into_iter().collect());
}

/// SUB-33
async fn sessions_are_told_apart_byte_by_byte(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let names = exotic();
    let batch = names.iter().map(|name| message(name, name));
    process.send(&endpoint, batch).await;
    // All are held at once, so two that were taken for one would leave a lane missing.
    let mut held = Vec::new();
    let mut seen = BTreeSet::new();
    for _ in &names {
        let mut lane = process.accept(&endpoint).await;
        let delivery = lane.next().await;
        assert_eq!(delivery.envelope.session_id, delivery.envelope.message_id);
        seen.extend(delivery.envelope.session_id.clone());
        settled("completing", delivery.receipt.complete()).await;
        lane.nothing_to_receive().await;
        held.push(lane);
    }
    assert_eq!(seen, names.into_iter().collect());
}

/// SUB-33
async fn message_ids_arrive_byte_by_byte(subject: Subject) {
    let process = subject.connect().await;
    let endpoint = process.declare("Billing").await;
    let names = exotic();
    let batch = names.iter().map(|name| message(name, "s"));
    process.send(&endpoint, batch).await;
    let mut lane = process.accept(&endpoint).await;
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    lane.complete_in_order(&names).await;
}
