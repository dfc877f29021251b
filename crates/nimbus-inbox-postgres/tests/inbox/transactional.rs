//! Effects and record in one transaction (INB-41).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nimbus_inbox_core::{
    Claim, CompletionKeys, DuplicateWhen, Inbox, InboxStore, InboxStoreExt, Processed, Recorded,
    Routing,
};
use nimbus_inbox_postgres::deadpool_postgres::Pool;
use nimbus_inbox_postgres::{PostgresInbox, PostgresInboxOptions, PostgresTransaction};
use nimbus_inbox_testing::key;

use crate::server::{Schema, stranger};
use crate::support::{Test, cases, keys};

pub(crate) const TESTS: &[Test] = cases![
    of_64_concurrent_first_deliveries_one_runs,
    of_64_concurrent_first_deliveries_one_runs_whatever_the_default_isolation,
    a_delivery_that_waited_runs_when_the_first_rolls_back,
    a_handler_that_panics_leaves_neither_effect_nor_record,
    a_handoff_commits_its_effects_without_a_record,
    an_unusable_id_runs_in_a_transaction_without_a_record,
    what_was_recorded_without_a_transaction_is_a_duplicate_in_one,
    the_table_is_made_before_the_first_transaction,
    a_connection_of_the_callers_own_will_do,
    a_callers_own_transaction_answers_every_key_in_order,
    a_handler_may_use_savepoints,
];

/// An inbox whose handlers count their effects in a table beside it.
pub(crate) struct Ledger {
    pub(crate) schema: Schema,
    pub(crate) inbox: Inbox<PostgresInbox>,
    pub(crate) pool: Pool,
}

impl Ledger {
    pub(crate) async fn new() -> Self {
        let schema = Schema::unique();
        let inbox = schema.open().await;
        Self::of(schema, inbox).await
    }

    pub(crate) async fn of(schema: Schema, store: PostgresInbox) -> Self {
        store.verify().await.expect("a fresh schema");
        let create = format!("create table {}.effect (id text not null)", schema.name());
        stranger()
            .await
            .batch_execute(&create)
            .await
            .expect("a table");
        let pool = store.pool().clone();
        let inbox = Inbox::new("Billing", store).expect("usable");
        Self {
            schema,
            inbox,
            pool,
        }
    }

    /// How many effects and how many records are committed.
    pub(crate) async fn counts(&self) -> (i64, i64) {
        let text = format!(
            "select (select count(*) from {}.effect), (select count(*) from {})",
            self.schema.name(),
            self.schema.table()
        );
        let row = stranger().await.query_one(&text, &[]).await.expect("reads");
        (row.get(0), row.get(1))
    }

    pub(crate) async fn effect(
        &self,
        tx: &PostgresTransaction<'_>,
        id: &str,
    ) -> anyhow::Result<()> {
        effect(tx, &self.schema, id).await
    }
}

pub(crate) async fn effect(
    tx: &PostgresTransaction<'_>,
    schema: &Schema,
    id: &str,
) -> anyhow::Result<()> {
    let text = format!("insert into {}.effect values ($1)", schema.name());
    tx.execute(&text, &[&id]).await?;
    Ok(())
}

async fn sixty_four_at_once(settings: &str) {
    let schema = Schema::unique();
    let store = schema.open_set(settings, schema.options()).await;
    let ledger = Ledger::of(schema, store).await;
    // Half of them come as from another process.
    let other = ledger
        .schema
        .open_set(settings, ledger.schema.options())
        .await;
    let other = Inbox::new("Billing", other).expect("usable");
    let runs = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..64)
        .map(|number| {
            let inbox = if number % 2 == 0 {
                &ledger.inbox
            } else {
                &other
            }
            .clone();
            let (runs, schema) = (Arc::clone(&runs), ledger.schema.clone());
            tokio::spawn(async move {
                let pool = inbox.store().pool().clone();
                inbox
                    .process_in(&pool, "order-1", async |tx| {
                        runs.fetch_add(1, Ordering::SeqCst);
                        effect(tx, &schema, "order-1").await?;
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

/// INB-41: one runs, the others wait and are skipped when it commits; none fails.
async fn of_64_concurrent_first_deliveries_one_runs() {
    sixty_four_at_once("-c application_name=claims").await;
}

/// INB-41: a database may begin its transactions at another level than a claim can wait at.
async fn of_64_concurrent_first_deliveries_one_runs_whatever_the_default_isolation() {
    sixty_four_at_once("-c default_transaction_isolation=serializable").await;
}

/// INB-41: when the first rolls back, the next runs.
async fn a_delivery_that_waited_runs_when_the_first_rolls_back() {
    let schema = Schema::unique();
    let address = schema.through(crate::server::socket());
    let store = schema.open_at(&address, schema.options()).await;
    let ledger = Arc::new(Ledger::of(schema, store).await);
    let (entered, is_entered) = tokio::sync::oneshot::channel();
    let (fail, is_failing) = tokio::sync::oneshot::channel::<()>();
    let first = tokio::spawn({
        let ledger = Arc::clone(&ledger);
        async move {
            let handler = async |tx: &mut PostgresTransaction<'_>| {
                ledger.effect(tx, "first").await?;
                entered.send(()).expect("the test waits");
                is_failing.await.expect("the test goes on");
                Err::<(), _>(anyhow::anyhow!("the order is locked"))
            };
            ledger
                .inbox
                .process_in(&ledger.pool, "order-1", handler)
                .await
        }
    });
    is_entered.await.expect("it runs");
    let second = tokio::spawn({
        let ledger = Arc::clone(&ledger);
        async move {
            let handler =
                async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "second").await;
            ledger
                .inbox
                .process_in(&ledger.pool, "order-1", handler)
                .await
        }
    });
    crate::support::waiting(&ledger.schema, 1).await;
    fail.send(()).expect("it waits");
    let error = first.await.expect("no panic").expect_err("it failed");
    assert_eq!(error.to_string(), "the order is locked");
    let outcome = second.await.expect("no panic").expect("it ran");
    assert!(!outcome.is_duplicate());
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-12, INB-41
async fn a_handler_that_panics_leaves_neither_effect_nor_record() {
    let ledger = Arc::new(Ledger::new().await);
    let outcome = tokio::spawn({
        let ledger = Arc::clone(&ledger);
        async move {
            let handler = async |tx: &mut PostgresTransaction<'_>| {
                ledger.effect(tx, "order-1").await?;
                assert!(tx.client().is_closed(), "a defect in a handler");
                anyhow::Ok(())
            };
            ledger
                .inbox
                .process_in(&ledger.pool, "order-1", handler)
                .await
        }
    });
    assert!(outcome.await.expect_err("it panicked").is_panic());
    let handler = async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "order-1").await;
    let again = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    assert!(!again.expect("its claim is free").is_duplicate());
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-13, INB-41: a handoff keeps the effects and gives the claim back, its own only.
async fn a_handoff_commits_its_effects_without_a_record() {
    let ledger = Ledger::new().await;
    let (source, own) = (key("Billing", "source"), key("Billing", "retry-1"));
    let store = ledger.inbox.store();
    store.record_one(&source).await.expect("a record");
    let keys = CompletionKeys::new(Some(source.clone()), Some(own.clone()));
    let outcome = ledger
        .inbox
        .process_claims(
            &ledger.pool,
            &keys,
            DuplicateWhen::OwnRecorded,
            &Routing::default(),
            async |tx| {
                ledger.effect(tx, "handed off").await?;
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
async fn an_unusable_id_runs_in_a_transaction_without_a_record() {
    let ledger = Ledger::new().await;
    for id in ["", " \u{3000}", &"x".repeat(600)] {
        let handler = async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "bypass").await;
        let outcome = ledger.inbox.process_in(&ledger.pool, id, handler).await;
        match outcome.expect("handled") {
            Processed::Handled(done) => assert_eq!(done.recorded, None),
            Processed::Duplicate => panic!("nothing was recorded"),
        }
    }
    assert_eq!(ledger.counts().await, (3, 0));
}

/// INB-41: the claim is checked and recorded like any other.
async fn what_was_recorded_without_a_transaction_is_a_duplicate_in_one() {
    let ledger = Ledger::new().await;
    ledger
        .inbox
        .process("order-1", async || anyhow::Ok(()))
        .await
        .expect("handled");
    let handler = async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "again").await;
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    assert!(outcome.expect("skipped").is_duplicate());
    assert_eq!(ledger.counts().await, (0, 1));
}

/// INB-27: also when the claim is the first use of the database.
async fn the_table_is_made_before_the_first_transaction() {
    let schema = Schema::unique();
    let store = schema.open().await;
    let pool = store.pool().clone();
    let inbox = Inbox::new("Billing", store).expect("usable");
    for is_duplicate in [false, true] {
        let handler = async |_: &mut PostgresTransaction<'_>| anyhow::Ok(());
        let outcome = inbox.process_in(&pool, "order-1", handler).await;
        assert_eq!(outcome.expect("handled").is_duplicate(), is_duplicate);
    }
}

/// INB-41: also in a task, and with the connection usable afterwards.
async fn a_connection_of_the_callers_own_will_do() {
    let ledger = Ledger::new().await;
    let (inbox, schema) = (ledger.inbox.clone(), ledger.schema.clone());
    let task = tokio::spawn(async move {
        let mut client = stranger().await;
        for (id, is_duplicate) in [("order-1", false), ("order-1", true), ("order-2", false)] {
            let handler = async |tx: &mut PostgresTransaction<'_>| effect(tx, &schema, id).await;
            let outcome = inbox.process_in(&mut client, id, handler).await;
            assert_eq!(outcome.expect("handled").is_duplicate(), is_duplicate);
            let failing = async |tx: &mut PostgresTransaction<'_>| {
                effect(tx, &schema, "failed").await?;
                Err::<(), _>(anyhow::anyhow!("not today"))
            };
            let outcome = inbox.process_in(&mut client, "order-3", failing).await;
            outcome.expect_err("it failed");
        }
    });
    task.await.expect("no panic");
    assert_eq!(ledger.counts().await, (2, 2));
}

/// INB-15, INB-41
async fn a_callers_own_transaction_answers_every_key_in_order() {
    let schema = Schema::unique();
    let options = PostgresInboxOptions::clone(&schema.options());
    let inbox = schema.open_with(options).await;
    let all = keys("order", 3);
    inbox.record(&all[1..2]).await.expect("a record");
    let mut stranger = stranger().await;
    let tx = stranger.transaction().await.expect("a transaction");
    let batch = [&all[0], &all[1], &all[0], &all[2]].map(Clone::clone);
    let outcome = inbox.record_in(&tx, &batch).await.expect("records");
    let (now, already) = (Recorded::Now, Recorded::Already);
    assert_eq!(outcome, [now, already, already, now]);
    tx.rollback().await.expect("it is open");
    let left = inbox.check(&all).await.expect("a check");
    let left: Vec<_> = left.iter().map(Option::is_some).collect();
    assert_eq!(left, [false, true, false]);
}

/// INB-41: what is rolled back to a savepoint is no failure of the whole.
async fn a_handler_may_use_savepoints() {
    let ledger = Ledger::new().await;
    let handler = async |tx: &mut PostgresTransaction<'_>| {
        ledger.effect(tx, "kept").await?;
        let savepoint = tx.transaction().await?;
        savepoint
            .batch_execute("select 1 / 0")
            .await
            .expect_err("it fails");
        savepoint.rollback().await?;
        ledger.effect(tx, "kept as well").await
    };
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    assert!(!outcome.expect("handled").is_duplicate());
    assert_eq!(ledger.counts().await, (2, 1));
}
