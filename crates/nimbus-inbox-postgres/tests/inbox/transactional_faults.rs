//! Transactions whose connection is lost or whose statements fail (INB-41).

use nimbus_inbox_core::InboxStore;
use nimbus_inbox_postgres::PostgresTransaction;
use nimbus_inbox_testing::ProxyFault;

use crate::server::{Schema, stranger};
use crate::support::{Test, cases, proxied};
use crate::transactional::Ledger;

pub(crate) const TESTS: &[Test] = cases![
    a_failure_that_the_handler_passed_over_is_not_taken_for_success,
    a_constraint_that_the_commit_finds_broken_leaves_nothing,
    a_commit_that_never_arrived_leaves_nothing,
    a_commit_whose_answer_was_lost_is_found_by_the_redelivery,
    a_connection_that_is_cut_under_the_handler_leaves_nothing,
    a_session_that_the_server_ended_for_idleness_leaves_nothing,
];

/// INB-41: the server answers the commit of a failed transaction with a rollback and no error.
async fn a_failure_that_the_handler_passed_over_is_not_taken_for_success() {
    let ledger = Ledger::new().await;
    let handler = async |tx: &mut PostgresTransaction<'_>| {
        ledger.effect(tx, "order-1").await?;
        let _ = tx.batch_execute("select 1 / 0").await;
        anyhow::Ok(())
    };
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    outcome.expect_err("nothing was committed");
    assert_eq!(ledger.counts().await, (0, 0));
    let handler = async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "order-1").await;
    let again = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    assert!(!again.expect("handled").is_duplicate());
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-41
async fn a_constraint_that_the_commit_finds_broken_leaves_nothing() {
    let ledger = Ledger::new().await;
    let constraint = format!(
        "alter table {}.effect add unique (id) deferrable initially deferred",
        ledger.schema.name()
    );
    stranger()
        .await
        .batch_execute(&constraint)
        .await
        .expect("a constraint");
    let handler = async |tx: &mut PostgresTransaction<'_>| {
        ledger.effect(tx, "twice").await?;
        ledger.effect(tx, "twice").await
    };
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    outcome.expect_err("nothing was committed");
    assert_eq!(ledger.counts().await, (0, 0));
}

async fn proxied_ledger() -> (nimbus_inbox_testing::TcpProxy, Ledger) {
    let schema = Schema::unique();
    let (proxy, store) = proxied(&schema).await;
    (proxy, Ledger::of(schema, store).await)
}

/// INB-41
async fn a_commit_that_never_arrived_leaves_nothing() {
    let (proxy, ledger) = proxied_ledger().await;
    proxy.inject("COMMIT", ProxyFault::RequestLost);
    let handler = async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "order-1").await;
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    outcome.expect_err("it is not known");
    let handler = async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "order-1").await;
    let again = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    assert!(!again.expect("handled").is_duplicate());
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-41: effects and record are there together, so the redelivery is a duplicate.
async fn a_commit_whose_answer_was_lost_is_found_by_the_redelivery() {
    let (proxy, ledger) = proxied_ledger().await;
    proxy.lose_answer("COMMIT");
    let handler = async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "order-1").await;
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    outcome.expect_err("it is not known");
    let handler = async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "again").await;
    let again = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    assert!(again.expect("skipped").is_duplicate());
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-41
async fn a_connection_that_is_cut_under_the_handler_leaves_nothing() {
    let (proxy, ledger) = proxied_ledger().await;
    let handler = async |tx: &mut PostgresTransaction<'_>| {
        ledger.effect(tx, "order-1").await?;
        proxy.cut();
        while !tx.client().is_closed() {
            tokio::task::yield_now().await;
        }
        anyhow::Ok(())
    };
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    outcome.expect_err("it can't be committed");
    let handler = async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "order-1").await;
    let again = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    assert!(!again.expect("handled").is_duplicate());
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-41
async fn a_session_that_the_server_ended_for_idleness_leaves_nothing() {
    let schema = Schema::unique();
    schema.open().await.verify().await.expect("a fresh schema");
    let idle = "-c idle_in_transaction_session_timeout=300ms";
    let store = schema.open_set(idle, schema.options()).await;
    let ledger = Ledger::of(schema, store).await;
    let handler = async |tx: &mut PostgresTransaction<'_>| {
        ledger.effect(tx, "order-1").await?;
        while !tx.client().is_closed() {
            tokio::task::yield_now().await;
        }
        anyhow::Ok(())
    };
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    outcome.expect_err("it can't be committed");
    assert_eq!(ledger.counts().await, (0, 0));
}
