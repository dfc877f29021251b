//! Effects and record in one transaction.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

#[path = "support/ledger.rs"]
mod ledger;
#[path = "support/logs.rs"]
mod logs;

use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures_util::future::poll_immediate;
use ledger::{Ledger, Pool, Step};
use logs::Logs;
use nimbus_inbox_core::{
    Batching, Claim, CompletionKeys, DuplicateWhen, Error, ErrorKind, Inbox, Processed, Recorded,
    Routing,
};
use nimbus_inbox_testing::key;
use tokio::task::yield_now;

fn inbox(ledger: &Ledger) -> Inbox<Ledger> {
    Inbox::new("Billing", ledger.clone()).unwrap()
}

/// INB-41: effects and record commit together, and the redelivery is a duplicate.
#[tokio::test]
async fn effects_and_record_commit_together() {
    let (ledger, pool) = (Ledger::default(), Pool::default());
    let inbox = inbox(&ledger);
    let seen = ledger.clone();
    let done = inbox
        .process_in(&pool, "m-1", async |tx| {
            tx.effect("invoice");
            yield_now().await;
            assert!(seen.records().is_empty() && seen.effects().is_empty());
            Ok::<_, Error>(5)
        })
        .await
        .unwrap();
    match done {
        Processed::Handled(handled) => {
            assert_eq!((handled.value, handled.recorded), (5, Some(Recorded::Now)));
        }
        Processed::Duplicate => panic!("a first delivery is no duplicate"),
    }
    assert_eq!(ledger.records(), [key("Billing", "m-1")]);
    assert_eq!(ledger.effects(), ["invoice"]);

    let logs = Logs::capture();
    let again = inbox
        .process_in(&pool, "m-1", async |_| -> Result<(), Error> {
            panic!("the handler of a duplicate was invoked")
        })
        .await;
    assert!(again.unwrap().is_duplicate());
    assert_eq!(logs.events("INFO", "duplicate delivery skipped").len(), 1);
}

/// INB-12, INB-41: a handler that fails rolls both back, also when the rollback fails, and its
/// error comes back as it was.
#[tokio::test]
async fn a_failed_handler_rolls_both_back() {
    let (ledger, pool) = (Ledger::default(), Pool::default());
    let inbox = inbox(&ledger);
    for failing in [None, Some(Step::Rollback)] {
        ledger.fail(failing);
        let outcome = inbox
            .process_in(&pool, "m-1", async |tx| -> anyhow::Result<()> {
                tx.effect("invoice");
                anyhow::bail!("card declined")
            })
            .await;
        assert_eq!(outcome.unwrap_err().to_string(), "card declined");
        assert!(ledger.records().is_empty() && ledger.effects().is_empty());
    }
}

/// INB-12: a handler that panics rolls both back and leaves the pool usable.
#[tokio::test]
async fn a_panicking_handler_rolls_both_back() {
    let (ledger, pool) = (Ledger::default(), Pool::default());
    let task = tokio::spawn({
        let (inbox, pool) = (inbox(&ledger), pool.clone());
        async move {
            inbox
                .process_in(&pool, "m-1", async |tx| -> Result<(), Error> {
                    tx.effect("invoice");
                    panic!("injected")
                })
                .await
        }
    });
    assert!(task.await.unwrap_err().is_panic());
    assert!(ledger.records().is_empty() && ledger.effects().is_empty());
    let inbox = inbox(&ledger);
    let next = inbox.process_in(&pool, "m-1", async |_| Ok::<_, Error>(()));
    assert!(!next.await.unwrap().is_duplicate());
}

/// INB-11, INB-41: a step that fails is transient and neutral; only a commit whose answer was
/// lost has taken effect, and its redelivery is a duplicate.
#[tokio::test]
async fn a_failed_step_leaves_both_or_neither() {
    for step in [
        Step::Lease,
        Step::Begin,
        Step::Claim,
        Step::Commit,
        Step::CommitAnswer,
    ] {
        let logs = Logs::capture();
        let (ledger, pool) = (Ledger::default(), Pool::default());
        let inbox = inbox(&ledger);
        let deliver = async || {
            inbox
                .process_in(&pool, "m-1", async |tx| {
                    tx.effect("invoice");
                    Ok::<_, Error>(())
                })
                .await
        };
        ledger.fail(step);
        let error = deliver().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Transient);
        assert!(!format!("{error} {error:?}").contains("planted-text"));
        assert_eq!(logs.events("WARN", "planted-text").len(), 1);
        let applied = usize::from(step == Step::CommitAnswer);
        assert_eq!(ledger.records().len(), applied, "{step:?}");
        assert_eq!(ledger.effects().len(), applied, "{step:?}");

        ledger.fail(None);
        let redelivery = deliver().await.unwrap();
        assert_eq!(redelivery.is_duplicate(), step == Step::CommitAnswer);
        assert_eq!(ledger.effects(), ["invoice"]);
    }
}

/// INB-41: of concurrent first deliveries one runs, the others wait and are skipped.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_concurrent_first_deliveries_one_runs() {
    let (ledger, pool) = (Ledger::default(), Pool::default());
    let deliveries: Vec<_> = (0..64)
        .map(|_| {
            let (inbox, pool) = (inbox(&ledger), pool.clone());
            tokio::spawn(async move {
                inbox
                    .process_in(&pool, "m-1", async |tx| {
                        tx.effect("invoice");
                        yield_now().await;
                        Ok::<_, Error>(())
                    })
                    .await
                    .unwrap()
            })
        })
        .collect();
    let mut handled = 0;
    for delivery in deliveries {
        handled += u32::from(!delivery.await.unwrap().is_duplicate());
    }
    assert_eq!(handled, 1);
    assert_eq!(ledger.effects(), ["invoice"]);
}

/// INB-14, INB-41: dropped at any suspension, both stay or neither does, and the next delivery
/// completes the work once.
#[tokio::test]
async fn a_drop_at_any_suspension_leaves_both_or_neither() {
    let (mut rolled_back_after_success, mut committed) = (0, 0);
    for k in 1_u32.. {
        let (ledger, pool) = (Ledger::default(), Pool::default());
        let inbox = inbox(&ledger);
        let succeeded = Arc::new(AtomicBool::new(false));
        let handler = async |tx: &mut ledger::Tx<'_>| {
            tx.effect("invoice");
            yield_now().await;
            succeeded.store(true, Ordering::SeqCst);
            Ok::<_, Error>(())
        };
        let mut finished = false;
        {
            let mut process = pin!(inbox.process_in(&pool, "m-1", handler));
            for _ in 0..k {
                finished = poll_immediate(process.as_mut()).await.is_some();
                if finished {
                    break;
                }
            }
        }
        if finished {
            break;
        }
        assert_eq!(ledger.records().len(), ledger.effects().len());
        if ledger.records().is_empty() {
            rolled_back_after_success += u32::from(succeeded.load(Ordering::SeqCst));
        } else {
            committed += 1;
        }
        let again = inbox.process_in(&pool, "m-1", async |tx| {
            tx.effect("invoice");
            Ok::<_, Error>(())
        });
        again.await.unwrap();
        assert_eq!(ledger.effects(), ["invoice"]);
    }
    assert!(rolled_back_after_success > 0 && committed > 0);
}

/// INB-03, INB-41: an unusable id runs in a transaction without a record.
#[tokio::test]
async fn an_unusable_id_commits_effects_alone() {
    let (ledger, pool) = (Ledger::default(), Pool::default());
    let inbox = inbox(&ledger);
    for _ in 0..2 {
        let done = inbox.process_in(&pool, "", async |tx| {
            tx.effect("invoice");
            Ok::<_, Error>(())
        });
        match done.await.unwrap() {
            Processed::Handled(handled) => assert_eq!(handled.recorded, None),
            Processed::Duplicate => panic!("nothing was recorded"),
        }
    }
    assert!(ledger.records().is_empty());
    assert_eq!(ledger.effects(), ["invoice", "invoice"]);
}

fn stand_in() -> CompletionKeys {
    CompletionKeys::new(Some(key("Billing", "m-1")), Some(key("Billing", "retry-1")))
}

async fn claim(
    ledger: &Ledger,
    keys: &CompletionKeys,
    duplicate: DuplicateWhen,
    outcome: Claim<()>,
) -> Result<Processed<()>, Error> {
    let pool = Pool::default();
    inbox(ledger)
        .process_claims(&pool, keys, duplicate, &Routing::default(), async |tx| {
            tx.effect("invoice");
            Ok(outcome)
        })
        .await
}

/// INB-15, INB-18, INB-41: a stand-in claims its source and itself in one transaction; by whose
/// record it is a duplicate depends on what it is.
#[tokio::test]
async fn a_stand_in_claims_its_source_too() {
    let ledger = Ledger::default();
    let keys = stand_in();
    let own = DuplicateWhen::OwnRecorded;
    let done = claim(&ledger, &keys, own, Claim::Keep(())).await.unwrap();
    assert!(!done.is_duplicate());
    assert_eq!(ledger.records(), keys.as_slice());
    assert!(
        claim(&ledger, &keys, own, Claim::Keep(()))
            .await
            .unwrap()
            .is_duplicate()
    );

    let copy = CompletionKeys::new(Some(key("Billing", "m-1")), Some(key("Billing", "copy-1")));
    let any = DuplicateWhen::AnyRecorded;
    assert!(
        claim(&ledger, &copy, any, Claim::Keep(()))
            .await
            .unwrap()
            .is_duplicate()
    );
    assert!(
        !claim(&ledger, &copy, own, Claim::Keep(()))
            .await
            .unwrap()
            .is_duplicate()
    );
    assert_eq!(ledger.effects().len(), 2);
}

/// INB-13, INB-41: a pending handoff commits its effects and takes back its own claims only.
#[tokio::test]
async fn a_handoff_releases_what_it_claimed() {
    let ledger = Ledger::default();
    let own = DuplicateWhen::OwnRecorded;
    let source = CompletionKeys::from(key("Billing", "m-1"));
    claim(&ledger, &source, own, Claim::Keep(())).await.unwrap();
    for _ in 0..2 {
        let done = claim(&ledger, &stand_in(), own, Claim::Release(())).await;
        match done.unwrap() {
            Processed::Handled(handled) => assert_eq!(handled.recorded, None),
            Processed::Duplicate => panic!("a handoff was taken for done"),
        }
        assert_eq!(ledger.records(), source.as_slice());
    }
    assert_eq!(ledger.effects().len(), 3);

    ledger.fail(Step::Release);
    let fresh = CompletionKeys::from(key("Billing", "m-2"));
    let failed = claim(&ledger, &fresh, own, Claim::Release(())).await;
    assert!(failed.unwrap_err().is_transient());
    assert_eq!(ledger.effects().len(), 3);
}

/// INB-41: a store behind the batching decorator keeps its transactional form.
#[tokio::test]
async fn batching_passes_transactions_through() {
    let (ledger, pool) = (Ledger::default(), Pool::default());
    let inbox = Inbox::new("Billing", Batching::new(ledger.clone())).unwrap();
    let done = inbox.process_in(&pool, "m-1", async |tx| {
        tx.effect("invoice");
        Ok::<_, Error>(())
    });
    assert!(!done.await.unwrap().is_duplicate());
    assert_eq!(ledger.records(), [key("Billing", "m-1")]);
}
