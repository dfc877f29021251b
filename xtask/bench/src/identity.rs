//! What the identity of a message costs.

use std::hint::black_box;

use nimbus_inbox_core::IdentityHash;
use sha2::{Digest, Sha256};

use crate::measure::cost;
use crate::report::{Report, Row};

const HASHES: u32 = 20_000;

pub(crate) fn run(report: &mut Report) {
    let short = (
        "BillingEndpoint".to_owned(),
        "6f9619ff-8b86-d011-b42d-00c04fc964ff".to_owned(),
    );
    let longest = ("e".repeat(260), "m".repeat(512));
    let astral = ("😀".repeat(130), "😀".repeat(256));
    for (name, (endpoint, message_id)) in [
        ("short", short),
        ("longest, ASCII", longest),
        ("longest, astral", astral),
    ] {
        let joined = format!(
            "{}\u{1f}{endpoint}\u{1f}{message_id}",
            endpoint.encode_utf16().count()
        );
        let bare = cost(HASHES, || {
            for _ in 0..HASHES {
                black_box(Sha256::digest(black_box(joined.as_bytes())));
            }
        });
        let identity = cost(HASHES, || {
            for _ in 0..HASHES {
                black_box(IdentityHash::of(
                    black_box(&endpoint),
                    black_box(&message_id),
                ));
            }
        });
        let row = |case: &str, cost: crate::measure::Cost| Row {
            case: case.to_owned(),
            nanoseconds: Some(cost.time.as_nanos()),
            allocations: Some(cost.allocations),
            bytes: Some(cost.bytes),
            ..Row::default()
        };
        report.add(
            format!("identity hash, {name} ids ({} bytes)", joined.len()),
            vec![
                row("SHA-256 over the joined bytes", bare),
                row("identity hash", identity),
            ],
        );
    }
}
