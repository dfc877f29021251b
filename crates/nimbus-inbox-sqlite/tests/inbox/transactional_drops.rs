//! Dropped at every await, a transaction is whole or absent (INB-14, INB-41).

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::Poll;

use nimbus_inbox_sqlite::TransactionHandle;

use crate::transactional::{Ledger, effect};

/// Polls `call` until it was left pending `polls` times, then drops it.
async fn drop_after<T>(polls: usize, call: impl Future<Output = T>) -> Option<T> {
    let mut call = pin!(call);
    let mut left = polls;
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(None);
        }
        left -= 1;
        match call.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending if left == 0 => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

/// INB-14, INB-41
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_delivery_dropped_at_any_await_is_whole_or_absent() {
    let handler = async |tx: &mut TransactionHandle| {
        effect(tx, "one half").await?;
        tokio::task::yield_now().await;
        effect(tx, "other half").await
    };
    let mut undisturbed = false;
    for polls in 0..200 {
        let ledger = Ledger::new().await;
        let process = ledger
            .inbox
            .process_in(&ledger.database, "order-1", handler);
        let answer = drop_after(polls, process).await;
        undisturbed = answer.is_some();
        if let Some(answer) = answer {
            assert!(!answer.expect("handled").is_duplicate());
        }

        // A write that comes after it waits until the transaction is over.
        ledger.database.write(|_| Ok(())).await.expect("it is over");
        let counts = ledger.counts().await;
        assert!(
            counts == (0, 0) || counts == (2, 1),
            "dropped after {polls} polls: {counts:?} effects and records"
        );
        if undisturbed {
            assert_eq!(counts, (2, 1));
        }

        // Whatever it left, the next delivery ends with everything exactly once.
        let again = ledger
            .inbox
            .process_in(&ledger.database, "order-1", handler);
        let again = again.await.expect("handled or skipped");
        assert_eq!(again.is_duplicate(), counts == (2, 1));
        assert_eq!(ledger.counts().await, (2, 1));
        if undisturbed {
            break;
        }
    }
    assert!(undisturbed, "the delivery never came to its end");
}

/// INB-14, INB-41: before the commit everything is rolled back, wherever the drop came.
#[tokio::test]
async fn a_drop_before_the_commit_leaves_nothing() {
    let ledger = Ledger::new().await;
    for reached in 0..4 {
        let (waits, is_waiting) = tokio::sync::oneshot::channel();
        let process = ledger
            .inbox
            .process_in(&ledger.database, "order-1", async |tx| {
                for number in 0..reached {
                    effect(tx, &number.to_string()).await?;
                }
                waits.send(()).expect("the test waits");
                std::future::pending::<anyhow::Result<()>>().await
            });
        tokio::select! {
            outcome = process => panic!("the handler never ends: {outcome:?}"),
            waiting = is_waiting => waiting.expect("it got there"),
        }
        // A write that comes after it waits until the transaction is over.
        ledger.database.write(|_| Ok(())).await.expect("it is over");
        assert_eq!(ledger.counts().await, (0, 0), "after {reached} effects");
    }
}

/// INB-14, INB-41: whoever stops waiting for its turn leaves the line.
#[tokio::test]
async fn a_drop_while_others_hold_the_file_leaves_nothing() {
    let ledger = Ledger::new().await;
    let holder = ledger.database.transaction().await.expect("nobody else");
    let process = ledger
        .inbox
        .process_in(&ledger.database, "order-1", async |tx| {
            effect(tx, "order-1").await
        });
    assert!(drop_after(1, process).await.is_none());
    holder.commit().await.expect("it is open");
    ledger.database.write(|_| Ok(())).await.expect("its turn");
    assert_eq!(ledger.counts().await, (0, 0));
}

/// INB-14, INB-41: a task that is aborted while the handler waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aborted_delivery_gives_the_claim_back() {
    let ledger = Ledger::new().await;
    let (entered, is_entered) = tokio::sync::oneshot::channel();
    let (inbox, database) = (ledger.inbox.clone(), ledger.database.clone());
    let task = tokio::spawn(async move {
        inbox
            .process_in(&database, "order-1", async |tx| {
                effect(tx, "order-1").await?;
                entered.send(()).expect("the test waits");
                std::future::pending::<anyhow::Result<()>>().await
            })
            .await
    });
    is_entered.await.expect("it runs");
    task.abort();
    assert!(task.await.expect_err("it was aborted").is_cancelled());
    let handler = async |tx: &mut TransactionHandle| effect(tx, "order-1").await;
    let outcome = ledger
        .inbox
        .process_in(&ledger.database, "order-1", handler);
    assert!(!outcome.await.expect("handled").is_duplicate());
    assert_eq!(ledger.counts().await, (1, 1));
}
