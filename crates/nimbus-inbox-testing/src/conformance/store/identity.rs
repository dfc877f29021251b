use std::time::Duration;

use nimbus_inbox_core::{Cutoff, EndpointId, InboxKey, MessageId, Recorded};

use super::subject::{Store, Subject};
use super::{StoreCase, cases};
use crate::key;

pub(super) const CASES: &[StoreCase] = cases![Nothing:
    ids_are_byte_exact,
    endpoints_are_byte_exact,
    the_border_between_the_parts_is_exact,
    the_longest_ids_are_kept_whole,
    the_longest_endpoints_are_kept_whole,
];

/// Texts that a careless comparison, escaping or normalisation takes for one another.
const LOOKALIKES: &[&str] = &[
    "order-42",
    "Order-42",
    "ORDER-42",
    "order-42 ",
    " order-42",
    "order-42  ",
    "order-42\t",
    "order-42\n",
    "order-42\r\n",
    "order-42\u{0}",
    "order-42\u{0}x",
    "\u{0}order-42",
    "order-42\u{a0}",
    "order-42\u{3000}",
    "\u{feff}order-42",
    "order\u{200b}-42",
    "order\u{ad}-42",
    "order-42\u{301}",
    "order\u{2010}42",
    "order_42",
    "order%42",
    "order%",
    "%",
    "_",
    "*",
    "?",
    "#",
    "@",
    "/",
    "\\",
    "//",
    "a/b",
    "a\\b",
    "a?b",
    "a#b",
    "a@b",
    "a%2Fb",
    "a%2fb",
    "a%252Fb",
    "a+b",
    "a b",
    "a%20b",
    "a\nb",
    "a\\nb",
    "a\u{0}b",
    "a\u{1f}b",
    "a\u{7f}b",
    ".",
    "..",
    "'",
    "''",
    "\"",
    "`",
    "';--",
    "' or '1'='1",
    "$1",
    "{}",
    "[]",
    "null",
    "NULL",
    "0",
    "00",
    "caf\u{e9}",
    "cafe\u{301}",
    "CAF\u{c9}",
    "\u{212b}",
    "\u{c5}",
    "A\u{30a}",
    "\u{fb01}",
    "fi",
    "\u{df}",
    "ss",
    "\u{1e9e}",
    "I",
    "i",
    "\u{130}",
    "\u{131}",
    "\u{ff21}",
    "A",
    "a",
    "\u{3c3}",
    "\u{3c2}",
    "\u{1f600}",
    "\u{1f601}",
    "\u{10ffff}",
    "\u{fffd}",
    "\u{ffff}",
    "\u{202e}order-42",
    "\u{645}\u{62d}",
    "\u{fdfd}",
];

/// INB-01
async fn ids_are_byte_exact(subject: Subject) {
    let all: Vec<_> = LOOKALIKES.iter().map(|id| key("Billing", id)).collect();
    tell_apart(&subject.open().await, &all).await;
}

/// INB-01, INB-22
async fn endpoints_are_byte_exact(subject: Subject) {
    let store = subject.open().await;
    let all: Vec<_> = LOOKALIKES
        .iter()
        .map(|name| key(name, "order-42"))
        .collect();
    tell_apart(&store, &all).await;

    // A purge compares the endpoint by itself, not the pair.
    let mut left = all.as_slice();
    while let Some((one, rest)) = left.split_first() {
        let endpoint = one.endpoint().as_str();
        let created = store.created_at(one).await;
        let cutoff = Cutoff::Before(created.saturating_add(Duration::from_secs(1)));
        let removed = store.purge(endpoint, cutoff, 1_000).await;
        assert_eq!(removed, 1, "records purged from endpoint {endpoint:?}");
        assert_eq!(store.check_one(one).await, None);
        for (other, found) in rest.iter().zip(store.check(rest).await) {
            let other = other.endpoint();
            assert!(found.is_some(), "purging {endpoint:?} touched {other:?}");
        }
        left = rest;
    }
}

/// INB-02: no two pairs are joined to the same text.
async fn the_border_between_the_parts_is_exact(subject: Subject) {
    let pairs = [
        ("a", "bc"),
        ("ab", "c"),
        ("a\u{1f}b", "c"),
        ("a", "b\u{1f}c"),
        ("1\u{1f}a", "b"),
        ("a:b", "c"),
        ("a", "b:c"),
        ("a/b", "c"),
        ("a", "b/c"),
        ("a", "a"),
        ("aa", "a"),
        ("a", "aa"),
    ];
    let all = pairs.map(|(endpoint, id)| key(endpoint, id));
    tell_apart(&subject.open().await, &all).await;
}

/// INB-03
async fn the_longest_ids_are_kept_whole(subject: Subject) {
    let limit = MessageId::MAX_UTF16_UNITS;
    assert!(MessageId::new("m".repeat(limit + 1)).is_err());
    let all: Vec<_> = longest(limit).iter().map(|id| key("Billing", id)).collect();
    tell_apart(&subject.open().await, &all).await;
}

/// INB-03
async fn the_longest_endpoints_are_kept_whole(subject: Subject) {
    let limit = EndpointId::MAX_UTF16_UNITS;
    assert!(EndpointId::new("e".repeat(limit + 1)).is_err());
    let ids = longest(MessageId::MAX_UTF16_UNITS);
    let endpoints = longest(limit);
    let all: Vec<_> = endpoints.iter().map(|name| key(name, &ids[0])).collect();
    let store = subject.open().await;
    tell_apart(&store, &all).await;
    for name in &endpoints {
        let cutoff = Cutoff::Before(
            store
                .pass(store.created_at(&key(name, &ids[0])).await)
                .await,
        );
        assert_eq!(store.purge_all(name, cutoff).await, 1);
    }
}

/// Texts of exactly `limit` UTF-16 code units that differ only at their ends, in one, two, three
/// and four bytes a character.
fn longest(limit: usize) -> Vec<String> {
    let mut texts = Vec::new();
    for (body, units, ends) in [
        ("x", 1, ["y", "z"]),
        ("\u{e9}", 1, ["\u{ea}", "\u{eb}"]),
        ("\u{4e2d}", 1, ["\u{4e2e}", "\u{4e2f}"]),
        ("\u{1f600}", 2, ["\u{1f601}", "\u{1f602}"]),
    ] {
        for end in ends {
            let text = body.repeat(limit / units - 1) + end;
            assert_eq!(text.encode_utf16().count(), limit);
            texts.push(text);
        }
    }
    texts
}

/// No key is taken for one recorded before it, alone or in a batch.
async fn tell_apart(store: &Store, all: &[InboxKey]) {
    for one in all {
        let found = store.check_one(one).await;
        assert_eq!(found, None, "{one:?} passes for one recorded before it");
        let recorded = store.record_one(one).await;
        assert_eq!(recorded, Recorded::Now, "{one:?} was taken for another");
    }
    for (one, found) in all.iter().zip(store.check(all).await) {
        assert!(found.is_some(), "{one:?} was recorded and is not found");
    }
    for (one, recorded) in all.iter().zip(store.record(all).await) {
        assert_eq!(recorded, Recorded::Already, "{one:?} was recorded before");
    }
}
