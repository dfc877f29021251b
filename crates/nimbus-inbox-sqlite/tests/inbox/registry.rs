//! Selected by name (INB-30).

use nimbus_inbox_core::{InboxSetup, InboxStoreKind, StoreRegistry};
use nimbus_inbox_sqlite::SqliteInbox;

use crate::support::directory;

/// INB-30: one line registers the provider, and only selecting it opens the file.
#[tokio::test]
async fn the_provider_is_registered_in_one_line() {
    let directory = directory();
    let path = directory.path().join("inbox.db");
    let (file, open) = (path.clone(), move || SqliteInbox::open(path.clone()));
    let registry = StoreRegistry::new()
        .register(InboxStoreKind::Sqlite, open)
        .expect("nothing else is registered");
    assert!(!file.exists());
    let inbox = InboxSetup::select(&registry, InboxStoreKind::from("sqlite"))
        .expect("it is registered")
        .open("BillingEndpoint")
        .await
        .expect("a fresh file");
    inbox.verify().await.expect("a fresh file");
    assert!(file.exists());
    assert_eq!(inbox.store().provider(), "sqlite");
}
