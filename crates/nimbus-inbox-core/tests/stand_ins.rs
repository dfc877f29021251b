//! Deliveries that complete another message's event.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

use nimbus_inbox_core::{CompletionKeys, Inbox, InboxStoreExt, Recorded};
use nimbus_inbox_testing::{CountingStore, InMemoryInbox, key};

fn inbox() -> (InMemoryInbox, Inbox<CountingStore>) {
    let memory = InMemoryInbox::new();
    let inbox = Inbox::new("Billing", CountingStore::new(memory.clone())).unwrap();
    (memory, inbox)
}

/// INB-15, INB-07: the source goes first, and both go in one call.
#[tokio::test]
async fn the_source_is_recorded_before_the_stand_in() {
    let (memory, inbox) = inbox();
    let (source, own) = (key("Billing", "m-1"), key("Billing", "retry-1"));
    let keys = CompletionKeys::new(Some(source.clone()), Some(own.clone()));
    assert_eq!(keys.own(), Some(&own));
    assert_eq!(
        inbox.record(&keys).await.unwrap(),
        [Recorded::Now, Recorded::Now]
    );
    assert_eq!(memory.keys(), [source, own]);
    assert_eq!(inbox.store().counts().record.calls, 1);
}

/// INB-20: stand-ins that carry no source, or an unusable one, record their own id.
#[tokio::test]
async fn what_is_absent_is_not_recorded() {
    let (memory, inbox) = inbox();
    let own = key("Billing", "retry-1");
    let source = inbox.key(Some(&"x".repeat(600))).ok();
    let keys = CompletionKeys::new(source, Some(own.clone()));
    assert_eq!(keys.as_slice(), std::slice::from_ref(&own));
    inbox.record(&keys).await.unwrap();
    assert_eq!(memory.keys(), [own]);

    let nothing = CompletionKeys::new(None, None);
    assert!(nothing.is_empty());
    assert_eq!(inbox.record(&nothing).await.unwrap(), []);
    assert_eq!(inbox.store().counts().record.calls, 1);
}

/// INB-15: a stand-in with an unusable id of its own still completes its source.
#[tokio::test]
async fn a_source_without_a_usable_stand_in_is_recorded() {
    let (memory, inbox) = inbox();
    let source = key("Billing", "m-1");
    let keys = CompletionKeys::new(Some(source.clone()), None);
    assert_eq!(keys.own(), None);
    inbox.record(&keys).await.unwrap();
    assert_eq!(memory.keys(), [source]);
}

/// INB-15: a delivery that names itself as its source is recorded once.
#[tokio::test]
async fn a_source_that_is_the_delivery_itself_counts_once() {
    let own = key("Billing", "m-1");
    let keys = CompletionKeys::new(Some(own.clone()), Some(own.clone()));
    assert_eq!(keys.as_slice(), std::slice::from_ref(&own));
    assert_eq!(keys.own(), Some(&own));
}

/// INB-18: a replayed parked copy is looked up by its own id and its source's in one call.
#[tokio::test]
async fn a_replay_is_a_duplicate_by_either_id() {
    let (memory, inbox) = inbox();
    let keys = [key("Billing", "copy-1"), key("Billing", "m-1")];
    assert_eq!(inbox.check_any(&keys).await.unwrap(), None);
    memory.record_one(&keys[1]).await.unwrap();
    let (found, _) = inbox.check_any(&keys).await.unwrap().unwrap();
    assert_eq!(found, &keys[1]);
    memory.record_one(&keys[0]).await.unwrap();
    let (found, at) = inbox.check_any(&keys).await.unwrap().unwrap();
    assert_eq!(found, &keys[0]);
    assert_eq!(inbox.check(&keys[0]).await.unwrap(), Some(at));
    let counts = inbox.store().counts();
    assert_eq!((counts.check.calls, counts.check.keys), (4, 7));
    assert_eq!(inbox.check_any(&[]).await.unwrap(), None);
    assert_eq!(inbox.store().counts().check.calls, 4);
}

/// INB-18, INB-19: a retry is looked up by its own id alone; its source being recorded does not
/// make it a duplicate.
#[tokio::test]
async fn a_retry_of_a_recorded_source_is_new() {
    let (memory, inbox) = inbox();
    memory.record_one(&key("Billing", "m-1")).await.unwrap();
    assert_eq!(inbox.check(&key("Billing", "retry-1")).await.unwrap(), None);
}
