//! The fallback to a message's address.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

#[path = "support/logs.rs"]
mod logs;

use logs::Logs;
use nimbus_inbox_core::{AddressScopedInbox, Error, InboxOptions, Processed};
use nimbus_inbox_testing::{CountingStore, InMemoryInbox, key};

/// INB-04: without a configured endpoint the address scopes the key.
#[tokio::test]
async fn the_address_is_the_endpoint() {
    let memory = InMemoryInbox::new();
    let inbox = AddressScopedInbox::new(memory.clone(), InboxOptions::default());
    let deliver = async |to: &str| {
        let done = inbox.process(to, "m-1", async || Ok::<_, Error>(())).await;
        done.unwrap().is_duplicate()
    };
    assert!(!deliver("Billing").await);
    assert!(!deliver("Shipping").await);
    assert!(deliver("Billing").await);
    assert_eq!(
        memory.keys(),
        [key("Billing", "m-1"), key("Shipping", "m-1")]
    );
    inbox.drained().await;
}

/// INB-03, INB-04: a message without a usable address is handled without the inbox.
#[tokio::test]
async fn an_unusable_address_bypasses_the_store() {
    let logs = Logs::capture();
    let counting = CountingStore::new(InMemoryInbox::new());
    let inbox = AddressScopedInbox::new(counting.clone(), InboxOptions::default());
    for to in ["", "  ", &"t".repeat(261)] {
        let done = inbox.process(to, "m-1", async || Ok::<_, Error>(1)).await;
        match done.unwrap() {
            Processed::Handled(handled) => assert_eq!(handled.recorded, None),
            Processed::Duplicate => panic!("nothing can be a duplicate without an endpoint"),
        }
    }
    assert_eq!(
        counting.counts(),
        CountingStore::new(InMemoryInbox::new()).counts()
    );
    assert_eq!(logs.events("WARN", "its address is").len(), 3);
}
