//! Effects and record in one transaction (INB-41).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nimbus_inbox_core::{
    Claim, CompletionKeys, DuplicateWhen, ErrorKind, Inbox, InboxStore, InboxStoreExt, Processed,
    Recorded, Routing, Transactional,
};
use nimbus_inbox_sqlite::{Database, SqliteInbox, TransactionHandle};
use nimbus_inbox_testing::key;

use crate::support::Fixture;

/// An inbox whose handlers count their effects in a table of the same file.
pub(crate) struct Ledger {
    pub(crate) fixture: Fixture,
    pub(crate) inbox: Inbox<SqliteInbox>,
    pub(crate) database: Database,
}

impl Ledger {
    pub(crate) async fn new() -> Self {
        let fixture = Fixture::new().await;
        let database = fixture.inbox.database().clone();
        database
            .write(|tx| tx.execute_batch("create table effect (id text not null) strict"))
            .await
            .expect("a fresh file");
        fixture.inbox.verify().await.expect("a fresh file");
        let inbox = Inbox::new("Billing", fixture.inbox.clone()).expect("usable");
        Self {
            fixture,
            inbox,
            database,
        }
    }

    /// How many effects and how many records are committed.
    pub(crate) async fn counts(&self) -> (i64, i64) {
        let counts = self.database.read(|tx| {
            let count = |sql| tx.query_row(sql, (), |row| row.get(0));
            Ok((
                count("select count(*) from effect")?,
                count("select count(*) from nimbus_inbox")?,
            ))
        });
        counts.await.expect("reads")
    }
}

pub(crate) async fn effect(tx: &TransactionHandle, id: &str) -> anyhow::Result<()> {
    let id = id.to_owned();
    tx.call(|tx| tx.execute("insert into effect values (?1)", [id]))
        .await?;
    Ok(())
}

/// INB-41: one runs, the others wait and are skipped when it commits; none fails. Half of them
/// come through another handle to the file, as from another process.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_concurrent_first_deliveries_one_runs() {
    let ledger = Ledger::new().await;
    let other = Inbox::new("Billing", ledger.fixture.elsewhere().await).expect("usable");
    let runs = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let inbox = if number % 2 == 0 {
                &ledger.inbox
            } else {
                &other
            }
            .clone();
            let runs = Arc::clone(&runs);
            tokio::spawn(async move {
                let database = inbox.store().database().clone();
                inbox
                    .process_in(&database, "order-1", async |tx| {
                        runs.fetch_add(1, Ordering::SeqCst);
                        effect(tx, "order-1").await?;
                        // The others get every chance to come in between.
                        tokio::task::yield_now().await;
                        anyhow::Ok(())
                    })
                    .await
            })
        })
        .collect();
    let mut handled = 0;
    for task in tasks {
        match task.await.expect("no panic").expect("none fails") {
            Processed::Handled(done) => {
                assert_eq!(done.recorded, Some(Recorded::Now));
                handled += 1;
            }
            Processed::Duplicate => {}
        }
    }
    assert_eq!((handled, runs.load(Ordering::SeqCst)), (1, 1));
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-41: when the first rolls back, the next runs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delivery_that_waited_runs_when_the_first_rolls_back() {
    let ledger = Ledger::new().await;
    let (entered, is_entered) = tokio::sync::oneshot::channel();
    let (fail, is_failing) = tokio::sync::oneshot::channel::<()>();
    let (inbox, database) = (ledger.inbox.clone(), ledger.database.clone());
    let first = tokio::spawn(async move {
        inbox
            .process_in(&database, "order-1", async |tx| {
                effect(tx, "first").await?;
                entered.send(()).expect("the test waits");
                is_failing.await.expect("the test goes on");
                anyhow::bail!("the order is locked");
                #[expect(unreachable_code, reason = "names the type of success")]
                Ok(())
            })
            .await
    });
    is_entered.await.expect("it runs");
    let (inbox, database) = (ledger.inbox.clone(), ledger.database.clone());
    let second = tokio::spawn(async move {
        let handler = async |tx: &mut TransactionHandle| effect(tx, "second").await;
        inbox.process_in(&database, "order-1", handler).await
    });
    tokio::task::yield_now().await;
    assert!(!second.is_finished(), "it doesn't wait for the claim");
    fail.send(()).expect("it waits");
    let error = first.await.expect("no panic").expect_err("it failed");
    assert_eq!(error.to_string(), "the order is locked");
    let outcome = second.await.expect("no panic").expect("it ran");
    assert!(!outcome.is_duplicate());
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-12, INB-41
#[tokio::test]
async fn a_handler_that_panics_leaves_neither_effect_nor_record() {
    let ledger = Ledger::new().await;
    let (inbox, database) = (ledger.inbox.clone(), ledger.database.clone());
    let outcome = tokio::spawn(async move {
        inbox
            .process_in(&database, "order-1", async |tx| {
                effect(tx, "order-1").await?;
                if tx.call(|tx| Ok(tx.is_autocommit())).await? {
                    return anyhow::Ok(());
                }
                panic!("a defect in a handler")
            })
            .await
    });
    assert!(outcome.await.expect_err("it panicked").is_panic());
    // A write that comes after it waits until the transaction is gone.
    ledger.database.write(|_| Ok(())).await.expect("it is gone");
    assert_eq!(ledger.counts().await, (0, 0));
}

/// INB-13, INB-41: a handoff keeps the effects and gives the claim back, its own only.
#[tokio::test]
async fn a_handoff_commits_its_effects_without_a_record() {
    let ledger = Ledger::new().await;
    let (source, own) = (key("Billing", "source"), key("Billing", "retry-1"));
    let store = ledger.inbox.store();
    store.record_one(&source).await.expect("a record");
    let keys = CompletionKeys::new(Some(source.clone()), Some(own.clone()));
    let outcome = ledger
        .inbox
        .process_claims(
            &ledger.database,
            &keys,
            DuplicateWhen::OwnRecorded,
            &Routing::default(),
            async |tx| {
                effect(tx, "handed off").await?;
                anyhow::Ok(Claim::Release(()))
            },
        )
        .await
        .expect("handled");
    assert!(!outcome.is_duplicate());
    assert_eq!(store.check_one(&own).await.expect("a check"), None);
    assert!(store.check_one(&source).await.expect("a check").is_some());
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-03: the work is done without a record, still as a whole.
#[tokio::test]
async fn an_unusable_id_runs_in_a_transaction_without_a_record() {
    let ledger = Ledger::new().await;
    for id in ["", " \u{3000}", &"x".repeat(600)] {
        let handler = async |tx: &mut TransactionHandle| effect(tx, "bypass").await;
        let outcome = ledger.inbox.process_in(&ledger.database, id, handler).await;
        match outcome.expect("handled") {
            Processed::Handled(done) => assert_eq!(done.recorded, None),
            Processed::Duplicate => panic!("nothing was recorded"),
        }
    }
    assert_eq!(ledger.counts().await, (3, 0));
}

/// INB-41: the claim is checked and recorded like any other, also behind the batching decorator.
#[tokio::test]
async fn what_was_recorded_without_a_transaction_is_a_duplicate_in_one() {
    let ledger = Ledger::new().await;
    let store = nimbus_inbox_core::Batching::new(ledger.fixture.inbox.clone());
    let inbox = Inbox::new("Billing", store).expect("usable");
    inbox
        .process("order-1", async || anyhow::Ok(()))
        .await
        .expect("handled");
    let outcome = inbox
        .process_in(&ledger.database, "order-1", async |tx| {
            effect(tx, "again").await
        })
        .await;
    assert!(outcome.expect("skipped").is_duplicate());
    assert_eq!(ledger.counts().await, (0, 1));
}

/// INB-27: also when the claim is the first use of the file.
#[tokio::test]
async fn the_table_is_made_before_the_first_transaction() {
    let fixture = Fixture::new().await;
    let inbox = Inbox::new("Billing", fixture.inbox.clone()).expect("usable");
    let database = fixture.inbox.database();
    for is_duplicate in [false, true] {
        let handler = async |_: &mut TransactionHandle| anyhow::Ok(());
        let outcome = inbox.process_in(database, "order-1", handler).await;
        assert_eq!(outcome.expect("handled").is_duplicate(), is_duplicate);
    }
}

/// INB-41: a transaction on another file could not commit together with the record.
#[tokio::test]
async fn a_transaction_on_another_file_is_refused() {
    let (ledger, elsewhere) = (Ledger::new().await, Fixture::new().await);
    let other = elsewhere.inbox.database();
    let outcome = ledger.fixture.inbox.lease(other).await.map(drop);
    let error = outcome.expect_err("another file");
    assert_eq!(error.kind(), ErrorKind::Configuration);
    for path in [ledger.fixture.path(), elsewhere.path()] {
        assert!(
            error.to_string().contains(&path.display().to_string()),
            "{error}"
        );
    }

    #[cfg(unix)]
    {
        let link = elsewhere.directory.path().join("link.db");
        std::os::unix::fs::symlink(ledger.fixture.path(), &link).expect("writable");
        let same = SqliteInbox::open(&link).await.expect("the same file");
        let outcome = ledger.fixture.inbox.lease(same.database()).await;
        outcome.expect("two paths, one file");
    }
}
