//! Dropped at every await, a transaction is whole or absent (INB-14, INB-41).

use std::num::NonZeroUsize;
use std::sync::Arc;

use nimbus_inbox_postgres::PostgresTransaction;

use crate::server::{Schema, stranger};
use crate::support::{Test, cases, drop_after};
use crate::transactional::Ledger;

pub(crate) const TESTS: &[Test] = cases![
    a_delivery_dropped_at_any_await_is_whole_or_absent,
    a_connection_whose_delivery_was_dropped_is_in_no_transaction,
    an_aborted_delivery_gives_the_claim_back,
    a_drop_on_a_callers_own_connection_is_rolled_back_before_its_next_statement,
];

/// A ledger with a single connection, which is given up by one and had by the next.
async fn with_one_connection() -> Ledger {
    let schema = Schema::unique();
    let options = schema.options().with_pool_size(NonZeroUsize::MIN);
    let store = schema.open_with(options).await;
    Ledger::of(schema, store).await
}

async fn both_halves(ledger: &Ledger, tx: &PostgresTransaction<'_>) -> anyhow::Result<()> {
    ledger.effect(tx, "one half").await?;
    tokio::task::yield_now().await;
    ledger.effect(tx, "other half").await
}

/// INB-14, INB-41
async fn a_delivery_dropped_at_any_await_is_whole_or_absent() {
    let ledger = with_one_connection().await;
    let mut before = (0, 0);
    for polls in 0..200 {
        let id = format!("order-{polls}");
        let handler = async |tx: &mut PostgresTransaction<'_>| both_halves(&ledger, tx).await;
        let process = ledger.inbox.process_in(&ledger.pool, &id, handler);
        let answer = drop_after(polls, process).await;
        // Whoever has the connection next comes after everything that was sent.
        drop(ledger.pool.get().await.expect("it comes back"));
        let counts = ledger.counts().await;
        let is_whole = counts == (before.0 + 2, before.1 + 1);
        assert!(
            is_whole || counts == before,
            "dropped after {polls} polls: {counts:?} effects and records after {before:?}"
        );
        // Whatever it left, the next delivery ends with everything exactly once.
        let handler = async |tx: &mut PostgresTransaction<'_>| both_halves(&ledger, tx).await;
        let again = ledger.inbox.process_in(&ledger.pool, &id, handler).await;
        assert_eq!(again.expect("handled or skipped").is_duplicate(), is_whole);
        before = ledger.counts().await;
        if let Some(answer) = answer {
            assert!(!answer.expect("handled").is_duplicate());
            assert!(is_whole);
            return;
        }
    }
    panic!("the delivery never came to its end");
}

/// INB-14: nobody's statement becomes part of somebody else's transaction.
async fn a_connection_whose_delivery_was_dropped_is_in_no_transaction() {
    let ledger = with_one_connection().await;
    for polls in 0..60 {
        let id = format!("order-{polls}");
        let handler = async |tx: &mut PostgresTransaction<'_>| both_halves(&ledger, tx).await;
        let process = ledger.inbox.process_in(&ledger.pool, &id, handler);
        drop_after(polls, process).await;
        let client = ledger.pool.get().await.expect("it comes back");
        // Outside a transaction each statement has one of its own, which ends with it.
        client
            .batch_execute(&format!(
                "insert into {}.effect values ('outside')",
                ledger.schema.name()
            ))
            .await
            .expect("an insert");
        let seen = stranger()
            .await
            .execute(
                &format!(
                    "delete from {}.effect where id = 'outside'",
                    ledger.schema.name()
                ),
                &[],
            )
            .await;
        assert_eq!(seen.expect("a delete"), 1, "dropped after {polls} polls");
    }
}

/// INB-14, INB-41: a task that is aborted while the handler waits.
async fn an_aborted_delivery_gives_the_claim_back() {
    let ledger = Arc::new(with_one_connection().await);
    let (entered, is_entered) = tokio::sync::oneshot::channel();
    let task = tokio::spawn({
        let ledger = Arc::clone(&ledger);
        async move {
            let handler = async |tx: &mut PostgresTransaction<'_>| {
                ledger.effect(tx, "order-1").await?;
                entered.send(()).expect("the test waits");
                std::future::pending::<anyhow::Result<()>>().await
            };
            ledger
                .inbox
                .process_in(&ledger.pool, "order-1", handler)
                .await
        }
    });
    is_entered.await.expect("it runs");
    task.abort();
    assert!(task.await.expect_err("it was aborted").is_cancelled());
    let handler = async |tx: &mut PostgresTransaction<'_>| ledger.effect(tx, "order-1").await;
    let outcome = ledger
        .inbox
        .process_in(&ledger.pool, "order-1", handler)
        .await;
    assert!(!outcome.expect("handled").is_duplicate());
    assert_eq!(ledger.counts().await, (1, 1));
}

/// INB-14, INB-41
async fn a_drop_on_a_callers_own_connection_is_rolled_back_before_its_next_statement() {
    let ledger = Ledger::new().await;
    let mut client = stranger().await;
    for polls in 0..60 {
        let id = format!("order-{polls}");
        let handler = async |tx: &mut PostgresTransaction<'_>| {
            both_halves(&ledger, tx).await?;
            // Never done, and always polled again.
            loop {
                tokio::task::yield_now().await;
            }
            #[expect(unreachable_code, reason = "names the type of success")]
            anyhow::Ok(())
        };
        let process = ledger.inbox.process_in(&mut client, &id, handler);
        assert!(drop_after(polls, process).await.is_none());
        let count = format!("select count(*) from {}.effect", ledger.schema.name());
        let row = client.query_one(&count, &[]).await.expect("an answer");
        assert_eq!(row.get::<_, i64>(0), 0, "dropped after {polls} polls");
    }
    assert_eq!(ledger.counts().await, (0, 0));
}
