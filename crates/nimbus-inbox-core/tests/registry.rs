//! Choosing a store by name or by value.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use nimbus_inbox_core::{
    Error, ErrorKind, Inbox, InboxOptions, InboxSetup, InboxStoreKind, Operation, StoreRegistry,
};
use nimbus_inbox_testing::{Fault, FaultyStore, InMemoryInbox, When, key};

fn registry() -> StoreRegistry {
    StoreRegistry::new()
        .register(InboxStoreKind::InMemory, async || Ok(InMemoryInbox::new()))
        .unwrap()
        .register("house-store".into(), async || Ok(InMemoryInbox::new()))
        .unwrap()
}

fn refusal(setup: Result<InboxSetup, Error>) -> String {
    let error = setup.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    error.to_string()
}

/// INB-30: the names of configuration, in any case; every other name is custom.
#[test]
fn kinds_are_named_as_in_configuration() {
    for (name, kind) in [
        ("sqlserver", InboxStoreKind::SqlServer),
        ("cosmos", InboxStoreKind::Cosmos),
        ("postgres", InboxStoreKind::Postgres),
        ("sqlite", InboxStoreKind::Sqlite),
        ("inmemory", InboxStoreKind::InMemory),
        ("house-store", InboxStoreKind::Custom("house-store".into())),
    ] {
        assert_eq!(name.parse(), Ok(kind.clone()));
        assert_eq!(kind.to_string(), name);
    }
    assert_eq!(InboxStoreKind::from("SqlServer"), InboxStoreKind::SqlServer);
}

/// INB-30: an unregistered store is refused with what is registered and the crate to add.
#[test]
fn what_is_not_registered_is_refused_with_the_remedy() {
    let text = refusal(InboxSetup::select(&registry(), InboxStoreKind::Postgres));
    for part in [
        "`postgres`",
        "nimbus-inbox-postgres",
        "inmemory, house-store",
    ] {
        assert!(text.contains(part), "{text}");
    }
    let text = refusal(InboxSetup::select(
        &registry(),
        InboxStoreKind::from("sqlit"),
    ));
    assert!(
        text.contains("`sqlit`") && text.contains("check its name"),
        "{text}"
    );
    let text = refusal(InboxSetup::select(
        &StoreRegistry::new(),
        InboxStoreKind::Sqlite,
    ));
    assert!(text.contains("nothing is registered"), "{text}");
}

/// INB-30: selecting none is refused.
#[test]
fn selecting_none_is_refused() {
    let text = refusal(InboxSetup::select(&registry(), None));
    assert!(text.contains("no store is selected"), "{text}");
    assert!(text.contains("inmemory, house-store"), "{text}");
}

/// INB-30: registering a kind twice is refused.
#[test]
fn a_kind_is_registered_once() {
    let twice = registry().register(InboxStoreKind::InMemory, async || Ok(InMemoryInbox::new()));
    let error = twice.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert!(
        error
            .to_string()
            .contains("`inmemory` was registered twice")
    );
}

/// INB-29: only the selected store is opened, and only when the inbox is.
#[tokio::test]
async fn nothing_is_opened_before_its_time() {
    let opened = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&opened);
    let registry = registry()
        .register(InboxStoreKind::Sqlite, move || {
            let count = Arc::clone(&count);
            async move {
                count.fetch_add(1, Ordering::SeqCst);
                Ok(InMemoryInbox::new())
            }
        })
        .unwrap();
    let other = InboxSetup::select(&registry, InboxStoreKind::InMemory).unwrap();
    let setup = InboxSetup::select(&registry, InboxStoreKind::Sqlite).unwrap();
    other.open("Billing").await.unwrap();
    assert_eq!(opened.load(Ordering::SeqCst), 0);
    let inbox: Inbox = setup.open("Billing").await.unwrap();
    assert_eq!(opened.load(Ordering::SeqCst), 1);
    assert_eq!(inbox.endpoint().as_str(), "Billing");
}

/// INB-30: a store is passed directly, with its options.
#[tokio::test]
async fn a_store_is_passed_directly() {
    let memory = InMemoryInbox::new();
    let day = std::time::Duration::from_secs(86_400);
    let options = InboxOptions::default().with_retention_period(day).unwrap();
    let setup = InboxSetup::new(memory.clone()).with_options(options);
    assert_eq!(setup.options().retention_period(), day);
    let inbox = setup.open("Billing").await.unwrap();
    inbox
        .process("m-1", async || Ok::<_, Error>(()))
        .await
        .unwrap();
    assert_eq!(memory.keys(), [key("Billing", "m-1")]);
    let error = InboxSetup::new(memory).open("").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
}

/// INB-32: a store that can't be opened or verified stops the start with its reason.
#[tokio::test]
async fn a_store_that_cannot_serve_stops_the_start() {
    let registry = StoreRegistry::new()
        .register("broken".into(), async || -> Result<InMemoryInbox, Error> {
            Err(Error::configuration(
                Operation::Open,
                "the file is a picture",
            ))
        })
        .unwrap();
    let setup = InboxSetup::select(&registry, InboxStoreKind::from("broken")).unwrap();
    let error = setup.open("Billing").await.unwrap_err();
    assert!(error.to_string().contains("the file is a picture"));

    let store = FaultyStore::new(InMemoryInbox::new());
    store.inject(
        When::verify(),
        Fault::fail(|operation| Error::configuration(operation, "table InboxMessages is missing")),
    );
    let inbox = InboxSetup::new(store).open("Billing").await.unwrap();
    let error = inbox.verify().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert_eq!(
        error.to_string(),
        "inbox verify (in_memory): table InboxMessages is missing"
    );
}
