//! Effects and record in one transaction of sqlx.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nimbus_inbox_core::{
    Claim, CompletionKeys, DuplicateWhen, ErrorKind, Inbox, InboxStore, InboxStoreExt, Processed,
    Recorded, Routing, Transactional,
};
use nimbus_inbox_postgres::{PostgresInbox, SqlxTransaction};
use nimbus_inbox_testing::key;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{AssertSqlSafe, PgPool};

use crate::server::{self, Schema, stranger};
use crate::support::{Test, cases, drop_after, keys, told};

pub(crate) const TESTS: &[Test] = cases![
    of_64_concurrent_first_deliveries_one_runs,
    a_delivery_dropped_at_any_await_is_whole_or_absent,
    a_failure_that_the_handler_passed_over_is_not_taken_for_success,
    a_handler_that_fails_leaves_neither_effect_nor_record,
    a_handoff_commits_its_effects_without_a_record,
    a_transaction_of_the_application_records_every_key_in_order,
    a_pool_that_is_exhausted_is_transient,
];

/// An inbox whose handlers count their effects, through a pool of the application.
struct Ledger {
    schema: Schema,
    inbox: Inbox<PostgresInbox>,
    pool: PgPool,
}

impl Ledger {
    async fn new(connections: u32) -> Self {
        let schema = Schema::unique();
        let store = schema.open().await;
        store.verify().await.expect("a fresh schema");
        let create = format!("create table {}.effect (id text not null)", schema.name());
        stranger()
            .await
            .batch_execute(&create)
            .await
            .expect("a table");
        let (config, socket) = (server::config(), server::socket());
        let mut options = PgConnectOptions::new_without_pgpass()
            .host(&socket.ip().to_string())
            .port(socket.port())
            .username(config.get_user().unwrap_or("postgres"))
            .database(config.get_dbname().unwrap_or("postgres"))
            .ssl_mode(sqlx::postgres::PgSslMode::Disable);
        if let Some(password) = config.get_password() {
            options = options.password(&String::from_utf8_lossy(password));
        }
        let pool = PgPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(std::time::Duration::from_secs(30))
            .connect_lazy_with(options);
        let inbox = Inbox::new("Billing", store).expect("usable");
        Self {
            schema,
            inbox,
            pool,
        }
    }

    async fn effect(&self, tx: &mut SqlxTransaction<'_>, id: &str) -> anyhow::Result<()> {
        effect(tx, &self.schema, id).await
    }

    async fn counts(&self) -> (i64, i64) {
        let text = format!(
            "select (select count(*) from {}.effect), (select count(*) from {})",
            self.schema.name(),
            self.schema.table()
        );
        let row = stranger().await.query_one(&text, &[]).await.expect("reads");
        (row.get(0), row.get(1))
    }
}

async fn effect(tx: &mut SqlxTransaction<'_>, schema: &Schema, id: &str) -> anyhow::Result<()> {
    let text = format!("insert into {}.effect values ($1)", schema.name());
    sqlx::query(AssertSqlSafe(text))
        .bind(id)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

/// INB-41
async fn of_64_concurrent_first_deliveries_one_runs() {
    let ledger = Ledger::new(10).await;
    let runs = Arc::new(AtomicUsize::new(0));
    let tasks: Vec<_> = (0..64)
        .map(|_| {
            let (inbox, pool) = (ledger.inbox.clone(), ledger.pool.clone());
            let (runs, schema) = (Arc::clone(&runs), ledger.schema.clone());
            tokio::spawn(async move {
                inbox
                    .process_in(&pool, "order-1", async |tx| {
                        runs.fetch_add(1, Ordering::SeqCst);
                        effect(tx, &schema, "order-1").await?;
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

/// INB-14, INB-41: with a single connection, so that the next one has it or a new one.
async fn a_delivery_dropped_at_any_await_is_whole_or_absent() {
    let ledger = Ledger::new(1).await;
    let mut before = (0, 0);
    for polls in 0..300 {
        let id = format!("order-{polls}");
        let handler = async |tx: &mut SqlxTransaction<'_>| {
            ledger.effect(tx, "one half").await?;
            tokio::task::yield_now().await;
            ledger.effect(tx, "other half").await
        };
        let process = ledger.inbox.process_in(&ledger.pool, &id, handler);
        let answer = drop_after(polls, process).await;
        // What the connection was in becomes nobody's: this is committed by itself.
        let text = format!(
            "insert into {}.effect values ('outside')",
            ledger.schema.name()
        );
        let outside = sqlx::query(AssertSqlSafe(text)).execute(&ledger.pool).await;
        outside.expect("a connection");
        let text = format!(
            "delete from {}.effect where id = 'outside'",
            ledger.schema.name()
        );
        let seen = stranger().await.execute(&text, &[]).await;
        assert_eq!(seen.expect("a delete"), 1, "dropped after {polls} polls");

        let handler = async |tx: &mut SqlxTransaction<'_>| {
            ledger.effect(tx, "one half").await?;
            ledger.effect(tx, "other half").await
        };
        let again = ledger.inbox.process_in(&ledger.pool, &id, handler).await;
        let again = again.expect("handled or skipped");
        let counts = ledger.counts().await;
        assert_eq!(
            counts,
            (before.0 + 2, before.1 + 1),
            "dropped after {polls} polls"
        );
        before = counts;
        if let Some(answer) = answer {
            assert!(!answer.expect("handled").is_duplicate());
            assert!(again.is_duplicate());
            return;
        }
    }
    panic!("the delivery never came to its end");
}

/// INB-41
async fn a_failure_that_the_handler_passed_over_is_not_taken_for_success() {
    let ledger = Ledger::new(2).await;
    let handler = async |tx: &mut SqlxTransaction<'_>| {
        ledger.effect(tx, "order-1").await?;
        let _ = sqlx::query("select 1 / 0").execute(&mut **tx).await;
        anyhow::Ok(())
    };
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    outcome.expect_err("nothing was committed");
    assert_eq!(ledger.counts().await, (0, 0));
}

/// INB-12, INB-41
async fn a_handler_that_fails_leaves_neither_effect_nor_record() {
    let ledger = Ledger::new(1).await;
    let handler = async |tx: &mut SqlxTransaction<'_>| {
        ledger.effect(tx, "order-1").await?;
        Err::<(), _>(anyhow::anyhow!("the order is locked"))
    };
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    assert_eq!(
        outcome.expect_err("it failed").to_string(),
        "the order is locked"
    );
    for is_duplicate in [false, true] {
        let handler = async |tx: &mut SqlxTransaction<'_>| ledger.effect(tx, "order-1").await;
        let outcome = ledger
            .inbox
            .process_in(&ledger.pool, "order-1", handler)
            .await;
        assert_eq!(outcome.expect("an outcome").is_duplicate(), is_duplicate);
    }
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-13, INB-41
async fn a_handoff_commits_its_effects_without_a_record() {
    let ledger = Ledger::new(2).await;
    let own = key("Billing", "retry-1");
    let keys = CompletionKeys::new(None, Some(own.clone()));
    let outcome = ledger
        .inbox
        .process_claims(
            &ledger.pool,
            &keys,
            DuplicateWhen::OwnRecorded,
            &Routing::default(),
            async |tx: &mut SqlxTransaction<'_>| {
                ledger.effect(tx, "handed off").await?;
                anyhow::Ok(Claim::Release(()))
            },
        )
        .await;
    assert!(!outcome.expect("handled").is_duplicate());
    let store = ledger.inbox.store();
    assert_eq!(store.check_one(&own).await.expect("a check"), None);
    assert_eq!(ledger.counts().await, (1, 0));
}

/// INB-15, INB-41
async fn a_transaction_of_the_application_records_every_key_in_order() {
    let ledger = Ledger::new(2).await;
    let (store, all) = (ledger.inbox.store(), keys("order", 3));
    store.record(&all[1..2]).await.expect("a record");
    let mut tx = ledger.pool.begin().await.expect("a transaction");
    let batch = [&all[0], &all[1], &all[0], &all[2]].map(Clone::clone);
    let outcome = store.record_in_sqlx(&mut tx, &batch).await;
    let (now, already) = (Recorded::Now, Recorded::Already);
    assert_eq!(outcome.expect("records"), [now, already, already, now]);
    tx.commit().await.expect("it is open");
    let found = store.check(&all).await.expect("a check");
    assert!(found.iter().all(Option::is_some));
}

/// INB-26
async fn a_pool_that_is_exhausted_is_transient() {
    let ledger = Ledger::new(1).await;
    let options = ledger.pool.connect_options();
    let small = PgPoolOptions::new()
        .max_connections(1)
        .acquire_timeout(std::time::Duration::from_millis(500))
        .connect_lazy_with((*options).clone());
    let held = small.acquire().await.expect("its only connection");
    let store = ledger.inbox.store().as_ref();
    let outcome = Transactional::<&PgPool>::lease(store, &small).await;
    told(ErrorKind::Transient, outcome);
    drop(held);
}
