//! Keys and their identity.

use std::collections::BTreeSet;

use nimbus_inbox_core::{EndpointId, IdentityHash, InboxKey, MessageId, UnusableId};
use nimbus_inbox_testing::key;
use proptest::prelude::*;
use serde_json::Value;

const VECTORS: &str = include_str!("data/identity-vectors.json");

/// INB-01, INB-02: every independently computed vector, and no two of them alike.
#[test]
fn the_hash_is_bit_identical_to_every_vector() {
    let document: Value = serde_json::from_str(VECTORS).unwrap();
    let vectors = document["vectors"].as_array().unwrap();
    assert_eq!(vectors.len(), 20);
    let mut seen = BTreeSet::new();
    for vector in vectors {
        let text = |name: &str| vector[name].as_str().unwrap();
        let hash = IdentityHash::of(text("endpoint"), text("message_id"));
        let note = text("note");
        assert_eq!(hash.to_string(), text("sha256").to_uppercase(), "{note}");
        assert!(seen.insert(hash), "{note} has the hash of another vector");

        let endpoint = EndpointId::new(text("endpoint")).unwrap();
        match MessageId::new(text("message_id")) {
            Ok(id) => assert_eq!(*InboxKey::new(endpoint, id).identity(), hash, "{note}"),
            Err(reason) => {
                // INB-05: what has a hash does not yet have a key.
                assert_eq!(reason, UnusableId::Missing, "{note}");
                assert_eq!(text("message_id"), "", "{note}");
            }
        }
    }
}

/// INB-01: ids that a careless comparison would take for the same are different keys.
#[test]
fn ids_are_opaque_and_byte_exact() {
    let ids = [
        "order-1",
        "Order-1",
        " order-1",
        "order-1 ",
        "order-1\u{0}",
        "order-1\t",
        "caf\u{e9}",
        "cafe\u{301}",
        "\u{ff4f}rder-1",
    ];
    let keys: std::collections::HashSet<_> = ids.into_iter().map(|id| key("Billing", id)).collect();
    assert_eq!(keys.len(), ids.len());
    assert_ne!(key("Billing", "1"), key("billing", "1"));
    assert_ne!(key("Billing", "1"), key("Billing ", "1"));
}

/// INB-03: limits count UTF-16 code units, and blank means only Unicode white space.
#[test]
fn the_limits_count_utf16_code_units() {
    assert!(MessageId::new("x".repeat(512)).is_ok());
    assert_eq!(
        MessageId::new("x".repeat(513)),
        Err(UnusableId::TooLong {
            length: 513,
            limit: 512
        })
    );
    // Outside the basic plane one character counts twice, whatever its length in UTF-8.
    assert!(MessageId::new("\u{1f4a1}".repeat(256)).is_ok());
    assert_eq!(
        MessageId::new("\u{1f4a1}".repeat(257)),
        Err(UnusableId::TooLong {
            length: 514,
            limit: 512
        })
    );
    assert!(MessageId::new("\u{e9}".repeat(512)).is_ok());
    assert!(EndpointId::new("x".repeat(260)).is_ok());
    assert_eq!(
        EndpointId::new("x".repeat(261)),
        Err(UnusableId::TooLong {
            length: 261,
            limit: 260
        })
    );
    assert_eq!(MessageId::new(""), Err(UnusableId::Missing));
    assert_eq!(
        MessageId::new(" \t\u{2003}\u{3000}"),
        Err(UnusableId::Blank { length: 4 })
    );
    assert!(MessageId::new("\u{0}").is_ok(), "a NUL is not white space");
}

fn id() -> impl Strategy<Value = String> {
    // Separators and digits first: they are what could make a joining ambiguous.
    prop_oneof!["[0-9\u{1f}]{0,6}", "[a-zA-Z \u{1f}0-9]{0,12}", "\\PC{0,20}"]
}

proptest! {
    /// INB-02: two different pairs never make the same text to hash.
    #[test]
    fn different_pairs_have_different_hashes(
        a in (id(), id()),
        b in (id(), id()),
        cut in any::<prop::sample::Index>(),
    ) {
        let hash = |pair: &(String, String)| IdentityHash::of(&pair.0, &pair.1);
        prop_assert_eq!(a == b, hash(&a) == hash(&b));

        // The same characters, divided elsewhere.
        let joined: Vec<char> = a.0.chars().chain(['\u{1f}']).chain(a.1.chars()).collect();
        let cut = cut.index(joined.len());
        let divided = (
            joined[..cut].iter().collect::<String>(),
            joined[cut + 1..].iter().collect::<String>(),
        );
        prop_assert_eq!(a == divided, hash(&a) == hash(&divided));
    }

    /// INB-05: a key exists exactly for parts within the limits, and keeps them unchanged.
    #[test]
    fn a_key_keeps_its_parts_or_does_not_exist(text in "\\PC{0,300}") {
        let units = text.encode_utf16().count();
        let blank = text.chars().all(char::is_whitespace);
        let usable = !blank && units <= 260;
        prop_assert_eq!(EndpointId::new(&text).is_ok(), usable);
        if let Ok(endpoint) = EndpointId::new(&text) {
            prop_assert_eq!(endpoint.as_str(), text);
        }
    }
}
