//! Where the inbox meets a provider: secrets, panics, bounds, unknown outcomes.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

#[path = "support/logs.rs"]
mod logs;

use std::time::Duration;

use async_trait::async_trait;
use logs::Logs;
use nimbus_inbox_core::{
    CompletionKeys, Cutoff, EndpointId, Error, ErrorKind, Inbox, InboxKey, InboxOptions,
    InboxStore, PurgeLimit, Recorded, StoreCapabilities, Timestamp,
};
use nimbus_inbox_testing::{CountingStore, Fault, FaultyStore, InMemoryInbox, When, key};

const PASSWORD: &str = "hunter2;pw";

/// What a driver might say, with the password in every form it can take.
fn leaky() -> std::io::Error {
    std::io::Error::other(format!(
        "could not connect to Server=db;User Id=sa;Password=\"{PASSWORD}\";Encrypt=true nor to \
         postgres://app:{PASSWORD}@db/inbox; Authorization: Bearer {PASSWORD}"
    ))
}

fn failing(kind: ErrorKind) -> Fault {
    Fault::fail(move |operation| {
        let context = format!("login refused for pwd={{{PASSWORD}}}; AccountKey={PASSWORD}");
        Error::new(kind, operation, context)
            .with_source(leaky())
            .with_retry_after(Duration::from_secs(9))
    })
}

fn assert_clean(text: &str) {
    assert!(!text.contains("hunter2"), "the password is in: {text}");
}

/// INB-11: whatever a provider says, its secrets reach no log, and its words reach no caller.
#[tokio::test]
async fn a_planted_password_reaches_no_log_and_no_error() {
    for kind in [
        ErrorKind::Transient,
        ErrorKind::Configuration,
        ErrorKind::InvalidInput,
        ErrorKind::OutcomeUnknown,
    ] {
        let logs = Logs::capture();
        let store = FaultyStore::new(InMemoryInbox::new());
        store.inject(When::any(), failing(kind));
        let inbox = Inbox::new("Billing", store).unwrap();

        let key = key("Billing", "m-1");
        let check = inbox.check(&key).await.unwrap_err();
        let record = inbox.record(&CompletionKeys::from(key)).await.unwrap_err();
        let verify = inbox.verify().await.unwrap_err();
        for error in [&check, &record] {
            assert_eq!(error.kind(), ErrorKind::Transient);
            assert_eq!(error.retry_after(), Some(Duration::from_secs(9)));
            assert!(std::error::Error::source(error).is_none());
            let shown = format!("{error} {error:?}");
            assert_clean(&shown);
            assert!(
                !shown.contains("login") && !shown.contains("in_memory"),
                "{shown}"
            );
            assert!(shown.contains("left for redelivery"));
        }
        // Startup fails with the reason (INB-32), which holds no secret either.
        assert_eq!(verify.kind(), kind);
        assert!(
            verify
                .to_string()
                .contains("login refused for pwd=[redacted]")
        );
        assert_clean(&format!("{verify} {verify:?}"));

        assert_clean(&logs.text());
        let level = if kind == ErrorKind::Configuration {
            "ERROR"
        } else {
            "WARN"
        };
        let causes = logs.events(level, "could not connect to Server=db");
        // One line per failed call; an unknown outcome of a record is two calls.
        let calls = if kind == ErrorKind::OutcomeUnknown {
            4
        } else {
            3
        };
        assert_eq!(causes.len(), calls, "{}", logs.text());
    }
}

/// INB-11: two different providers and causes give the same text.
#[tokio::test]
async fn the_text_that_leaves_is_fixed() {
    let mut texts = Vec::new();
    for fault in [
        Fault::transient(),
        failing(ErrorKind::Configuration),
        Fault::panic(),
    ] {
        let store = FaultyStore::new(InMemoryInbox::new());
        store.inject(When::check(), fault);
        let inbox = Inbox::new("Billing", store).unwrap();
        texts.push(
            inbox
                .check(&key("Billing", "m-1"))
                .await
                .unwrap_err()
                .to_string(),
        );
    }
    texts.dedup();
    assert_eq!(texts.len(), 1);
}

/// INB-11: a provider that panics fails its call and nothing else, without spilling its words.
#[tokio::test]
async fn a_panicking_provider_is_a_transient_failure() {
    let logs = Logs::capture();
    let store = FaultyStore::new(InMemoryInbox::new());
    let inbox = Inbox::new("Billing", store.clone()).unwrap();
    store.inject(When::any(), Fault::panic());
    let keys = CompletionKeys::from(key("Billing", "m-1"));
    assert!(inbox.record(&keys).await.unwrap_err().is_transient());
    assert!(inbox.verify().await.unwrap_err().is_transient());
    assert_eq!(
        logs.events("WARN", "the provider panicked: injected panic")
            .len(),
        2
    );
    store.heal();
    assert_eq!(inbox.record(&keys).await.unwrap(), [Recorded::Now]);
}

/// INB-26: a record whose answer was lost is tried once more, which finds it.
#[tokio::test]
async fn a_lost_answer_is_asked_for_once_more() {
    let faulty = FaultyStore::new(InMemoryInbox::new());
    let inbox = Inbox::new("Billing", CountingStore::new(faulty.clone())).unwrap();
    faulty.inject(When::record().first(1), Fault::answer_lost());
    let keys = CompletionKeys::from(key("Billing", "m-1"));
    assert_eq!(inbox.record(&keys).await.unwrap(), [Recorded::Already]);
    assert_eq!(inbox.store().counts().record.calls, 2);
}

/// INB-26: the second unknown outcome is transient, and a plain failure is not tried again.
#[tokio::test]
async fn only_one_unknown_outcome_is_tried_again() {
    for (fault, calls) in [(Fault::answer_lost(), 2), (Fault::transient(), 1)] {
        let faulty = FaultyStore::new(InMemoryInbox::new());
        let inbox = Inbox::new("Billing", CountingStore::new(faulty.clone())).unwrap();
        faulty.inject(When::record(), fault);
        let keys = CompletionKeys::from(key("Billing", "m-1"));
        let error = inbox.record(&keys).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Transient);
        assert_eq!(inbox.store().counts().record.calls, calls);
    }
}

/// A bound of the whole range means "wait for ever", and must not overflow the clock.
#[tokio::test]
async fn the_longest_bound_records_too() {
    let longest = InboxOptions::default()
        .with_store_timeout(Duration::MAX)
        .unwrap();
    let inbox = Inbox::with_options("Billing", InMemoryInbox::new(), longest).unwrap();
    let processed = inbox.process("m-1", async || Ok::<_, Error>(())).await;
    assert!(!processed.unwrap().is_duplicate());
}

/// INB-14: every call has its bound, a record with its retry one bound together.
#[tokio::test(start_paused = true)]
async fn a_store_that_hangs_is_given_up_on_at_the_bound() {
    let bound = Duration::from_secs(5);
    let options = InboxOptions::default().with_store_timeout(bound).unwrap();
    let store = FaultyStore::new(InMemoryInbox::new());
    let inbox = Inbox::with_options("Billing", store.clone(), options).unwrap();
    let key = key("Billing", "m-1");

    store.inject(When::any(), Fault::hang());
    for _ in 0..2 {
        let started = tokio::time::Instant::now();
        let error = inbox.check(&key).await.unwrap_err();
        assert!(error.is_transient());
        assert_eq!(started.elapsed(), bound);
    }
    store.heal();
    // Three seconds for an answer that is lost leave two for the retry.
    store.inject(When::record(), Fault::delay(Duration::from_secs(3)));
    store.inject(When::record().first(1), Fault::answer_lost());
    let started = tokio::time::Instant::now();
    let error = inbox.record(&CompletionKeys::from(key)).await.unwrap_err();
    assert!(error.is_transient());
    assert_eq!(started.elapsed(), bound);
}

/// A provider that answers with fewer answers than keys.
#[derive(Debug)]
struct Forgetful;

#[async_trait]
impl InboxStore for Forgetful {
    fn provider(&self) -> &'static str {
        "forgetful"
    }

    fn capabilities(&self) -> StoreCapabilities {
        InMemoryInbox::new().capabilities()
    }

    async fn verify(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn check(&self, _: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        Ok(Vec::new())
    }

    async fn record(&self, _: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        Ok(Vec::new())
    }

    async fn purge(&self, _: &EndpointId, _: Cutoff, _: PurgeLimit) -> Result<u64, Error> {
        Ok(0)
    }
}

/// INB-11: a missing answer is a failure; it must not pass for "not processed" or "recorded".
#[tokio::test]
async fn a_missing_answer_is_no_answer() {
    let inbox = Inbox::new("Billing", Forgetful).unwrap();
    let key = key("Billing", "m-1");
    assert!(inbox.check(&key).await.unwrap_err().is_transient());
    let keys = CompletionKeys::from(key);
    assert!(inbox.record(&keys).await.unwrap_err().is_transient());
}
