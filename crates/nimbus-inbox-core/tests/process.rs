//! The inbox around a handler: order, bypass, failures, concurrency.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

#[path = "support/logs.rs"]
mod logs;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use logs::Logs;
use nimbus_inbox_core::{
    Admission, Error, ErrorKind, Inbox, InboxOptions, InboxStoreExt, Processed, Recorded,
    UnusableId,
};
use nimbus_inbox_testing::{
    CountingStore, Fault, FaultyStore, GateStore, InMemoryInbox, Point, When, key,
};

fn inbox(store: InMemoryInbox) -> Inbox<CountingStore> {
    Inbox::new("Billing", CountingStore::new(store)).unwrap()
}

async fn fresh(inbox: &Inbox<CountingStore>, id: &str) -> Processed<u32> {
    inbox.process(id, async || Ok::<_, Error>(7)).await.unwrap()
}

/// INB-06, INB-07, INB-09: one check and one record for a fresh delivery, one check and no
/// handler for its redelivery.
#[tokio::test]
async fn a_redelivery_of_a_success_runs_nothing() {
    let logs = Logs::capture();
    let inbox = inbox(InMemoryInbox::new());
    match fresh(&inbox, "m-1").await {
        Processed::Handled(handled) => {
            assert_eq!(handled.value, 7);
            assert_eq!(handled.recorded, Some(Recorded::Now));
        }
        Processed::Duplicate => panic!("a first delivery is no duplicate"),
    }
    let counts = inbox.store().counts();
    assert_eq!((counts.check.calls, counts.record.calls), (1, 1));

    let again = inbox
        .process("m-1", async || -> Result<u32, Error> {
            panic!("the handler of a duplicate was invoked")
        })
        .await
        .unwrap();
    assert!(again.is_duplicate());
    assert_eq!(again.into_value(), None);
    let counts = inbox.store().counts();
    assert_eq!((counts.check.calls, counts.record.calls), (2, 1));
    let lines = logs.events("INFO", "duplicate delivery skipped");
    assert_eq!(lines.len(), 1);
    assert!(lines[0].contains("Billing") && lines[0].contains("m-1"));
}

/// INB-06: nothing is recorded before the handler returned success.
#[tokio::test]
async fn nothing_is_recorded_while_the_handler_runs() {
    let store = InMemoryInbox::new();
    let inbox = inbox(store.clone());
    inbox
        .process("m-1", async || {
            assert!(store.is_empty());
            Ok::<_, Error>(())
        })
        .await
        .unwrap();
    assert_eq!(store.keys(), [key("Billing", "m-1")]);
}

/// INB-22: endpoints that share a store don't see each other's records.
#[tokio::test]
async fn endpoints_that_share_a_store_are_apart() {
    let store = InMemoryInbox::new();
    for endpoint in ["Billing", "billing", "Shipping"] {
        let inbox = Inbox::new(endpoint, store.clone()).unwrap();
        let done = inbox.process("m-1", async || Ok::<_, Error>(())).await;
        assert!(!done.unwrap().is_duplicate(), "{endpoint}");
    }
}

/// INB-03, INB-39: an unusable id runs the handler each time, warns with lengths only, and
/// touches no store.
#[tokio::test]
async fn an_unusable_id_bypasses_the_store() {
    let too_long = "secret-id".repeat(60);
    for (id, said) in [
        ("", "missing"),
        (" \u{2003}", "blank (2 UTF-16"),
        (&*too_long, "too long (540 UTF-16"),
    ] {
        let logs = Logs::capture();
        let inbox = inbox(InMemoryInbox::new());
        for _ in 0..2 {
            match fresh(&inbox, id).await {
                Processed::Handled(handled) => {
                    assert_eq!((handled.value, handled.recorded), (7, None));
                }
                Processed::Duplicate => panic!("{said} was deduplicated"),
            }
        }
        let counts = inbox.store().counts();
        assert_eq!((counts.check.calls, counts.record.calls), (0, 0));
        assert_eq!(logs.events("WARN", said).len(), 2, "{}", logs.text());
        assert!(!logs.text().contains("secret-id"));
    }
}

/// INB-03: a handler that fails without the inbox fails as it would with it.
#[tokio::test]
async fn a_bypassed_failure_is_the_handlers_own() {
    let inbox = inbox(InMemoryInbox::new());
    let outcome = inbox
        .process("", async || -> anyhow::Result<()> {
            anyhow::bail!("card declined")
        })
        .await;
    assert_eq!(outcome.unwrap_err().to_string(), "card declined");
}

/// INB-03, INB-34: an endpoint that could never deduplicate is refused where it is configured.
#[test]
fn an_unusable_endpoint_is_a_configuration_error() {
    for endpoint in ["", " ", &"e".repeat(261)] {
        let error = Inbox::new(endpoint, InMemoryInbox::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Configuration);
    }
}

/// INB-12: a failed or panicking handler records nothing, and the next delivery runs.
#[tokio::test]
async fn a_failed_handler_leaves_the_message_eligible() {
    let store = InMemoryInbox::new();
    let inbox = inbox(store.clone());
    let failed = inbox
        .process("m-1", async || -> anyhow::Result<()> {
            anyhow::bail!("card declined")
        })
        .await;
    assert_eq!(failed.unwrap_err().to_string(), "card declined");

    let panicking = inbox.clone();
    let panicked = tokio::spawn(async move {
        panicking
            .process("m-1", async || -> Result<(), Error> { panic!("injected") })
            .await
    });
    assert!(panicked.await.unwrap_err().is_panic());
    inbox.drained().await;
    assert!(store.is_empty());
    assert!(!fresh(&inbox, "m-1").await.is_duplicate());
}

/// INB-11: a store that can't be asked is an error and not a duplicate, and runs nothing.
#[tokio::test]
async fn a_failed_check_runs_nothing_and_is_transient() {
    let store = FaultyStore::new(InMemoryInbox::new());
    let inbox = Inbox::new("Billing", store.clone()).unwrap();
    for fault in [
        Fault::transient(),
        Fault::panic(),
        Fault::fail(|operation| Error::configuration(operation, "no such table")),
    ] {
        store.inject(When::check(), fault);
        let outcome = inbox
            .process("m-1", async || -> Result<(), Error> {
                panic!("the handler ran although the check failed")
            })
            .await;
        let error = outcome.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Transient);
        store.heal();
    }
}

/// INB-11: a failed record is an error, so that the caller does not settle; the redelivery runs.
#[tokio::test]
async fn a_failed_record_is_transient_and_the_redelivery_runs() {
    let memory = InMemoryInbox::new();
    let store = FaultyStore::new(memory.clone());
    let inbox = Inbox::new("Billing", store.clone()).unwrap();
    store.inject(When::record().first(1), Fault::transient());
    let runs = AtomicU32::new(0);
    let deliver = async || {
        inbox
            .process("m-1", async || {
                runs.fetch_add(1, Ordering::SeqCst);
                Ok::<_, Error>(())
            })
            .await
    };
    assert!(deliver().await.unwrap_err().is_transient());
    assert!(memory.is_empty());
    assert!(!deliver().await.unwrap().is_duplicate());
    assert!(deliver().await.unwrap().is_duplicate());
    assert_eq!(runs.load(Ordering::SeqCst), 2);
}

/// INB-40: two genuinely concurrent first deliveries both run; both succeed, one record stays,
/// and the second says so in the log.
#[tokio::test]
async fn concurrent_first_deliveries_both_run_and_both_succeed() {
    let logs = Logs::capture();
    let memory = InMemoryInbox::new();
    let store = GateStore::new(memory.clone());
    let inbox = Inbox::new("Billing", store.clone()).unwrap();
    let mut checked = store.hold(When::check(), Point::AfterEffect);
    let deliveries: Vec<_> = (0..2)
        .map(|_| {
            let inbox = inbox.clone();
            tokio::spawn(async move { inbox.process("m-1", async || Ok::<_, Error>(())).await })
        })
        .collect();
    let (first, second) = (checked.reached().await, checked.reached().await);
    first.release();
    second.release();
    let mut found = Vec::new();
    for delivery in deliveries {
        match delivery.await.unwrap().unwrap() {
            Processed::Handled(handled) => found.push(handled.recorded),
            Processed::Duplicate => panic!("both checks came before either record"),
        }
    }
    found.sort_by_key(|recorded| recorded.map(Recorded::is_now));
    assert_eq!(found, [Some(Recorded::Already), Some(Recorded::Now)]);
    assert_eq!(memory.len(), 1);
    assert_eq!(logs.events("WARN", "already recorded when").len(), 1);
}

/// INB-21: of 64 concurrent callers exactly one records, on several threads.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_concurrent_callers_one_records() {
    let memory = InMemoryInbox::new();
    let inbox = Inbox::new("Billing", memory.clone()).unwrap();
    let runs = Arc::new(AtomicU32::new(0));
    let callers: Vec<_> = (0..64)
        .map(|_| {
            let (inbox, runs) = (inbox.clone(), Arc::clone(&runs));
            tokio::spawn(async move {
                inbox
                    .process("m-1", async || {
                        runs.fetch_add(1, Ordering::SeqCst);
                        Ok::<_, Error>(())
                    })
                    .await
                    .unwrap()
            })
        })
        .collect();
    let (mut recorded_now, mut handled) = (0, 0);
    for caller in callers {
        if let Processed::Handled(done) = caller.await.unwrap() {
            handled += 1;
            recorded_now += u32::from(done.recorded == Some(Recorded::Now));
        }
    }
    assert_eq!(recorded_now, 1);
    assert_eq!(handled, runs.load(Ordering::SeqCst));
    assert_eq!(memory.len(), 1);
    assert!(
        memory
            .check_one(&key("Billing", "m-1"))
            .await
            .unwrap()
            .is_some()
    );
}

/// INB-03: the quiet form warns of nothing, the loud one once.
#[tokio::test]
async fn only_admission_warns() {
    let logs = Logs::capture();
    let inbox = inbox(InMemoryInbox::new());
    assert_eq!(inbox.key(None), Err(UnusableId::Missing));
    assert!(logs.text().is_empty());
    assert_eq!(inbox.admit(None), Admission::Bypassed(UnusableId::Missing));
    assert_eq!(inbox.admit(Some("m-1")).key(), Some(&key("Billing", "m-1")));
    assert_eq!(logs.events("WARN", "missing").len(), 1);
}

/// INB-39: an inbox whose store is chosen at run time, shared with others.
#[tokio::test]
async fn an_erased_inbox_shares_store_and_tails() {
    let memory = Arc::new(InMemoryInbox::new());
    let inbox = Inbox::from_arc("Billing", Arc::clone(&memory), InboxOptions::default()).unwrap();
    let erased: Inbox = inbox.clone().erase();
    erased
        .process("m-1", async || Ok::<_, Error>(()))
        .await
        .unwrap();
    let again = inbox.process("m-1", async || Ok::<_, Error>(())).await;
    assert!(again.unwrap().is_duplicate());
    assert_eq!(erased.endpoint().as_str(), "Billing");
    assert!(!format!("{erased:?}").contains("records"));
}

/// INB-09: an id that holds a line break can't forge a log line.
#[tokio::test]
async fn an_id_cannot_forge_a_log_line() {
    let logs = Logs::capture();
    let inbox = inbox(InMemoryInbox::new());
    let id = "m-1\n2026-01-01 WARN forged";
    fresh(&inbox, id).await;
    assert!(fresh(&inbox, id).await.is_duplicate());
    assert_eq!(logs.events("INFO", "duplicate delivery skipped").len(), 1);
    assert!(
        !logs
            .text()
            .lines()
            .any(|line| line.starts_with("2026-01-01 WARN"))
    );
}
