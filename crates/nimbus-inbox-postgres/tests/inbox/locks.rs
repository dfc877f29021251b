//! Records that meet transactions which hold their keys.

use std::time::Duration;

use futures_util::future::join_all;
use nimbus_inbox_core::{ErrorKind, InboxStore, InboxStoreExt, Recorded, Transactional};

use crate::server::{Schema, stranger};
use crate::support::{Test, cases, keys, told, waiting};

pub(crate) const TESTS: &[Test] = cases![
    a_record_waits_for_a_transaction_and_learns_what_became_of_it,
    a_record_that_waits_too_long_is_transient_and_holds_up_no_others,
    a_statement_that_takes_too_long_is_transient,
    a_claim_that_is_the_victim_of_a_deadlock_is_transient,
    batches_in_opposite_orders_never_deadlock,
];

/// INB-21, INB-41
async fn a_record_waits_for_a_transaction_and_learns_what_became_of_it() {
    for (commits, expected) in [(true, Recorded::Already), (false, Recorded::Now)] {
        let schema = Schema::unique();
        let options = schema.options().with_lock_timeout(Duration::from_secs(60));
        let address = schema.through(crate::server::socket());
        let inbox = schema.open_at(&address, options.expect("in range")).await;
        inbox.verify().await.expect("a fresh schema");
        let one = keys("m", 1);
        let mut holder = stranger().await;
        let tx = holder.transaction().await.expect("a transaction");
        inbox.record_in(&tx, &one).await.expect("a claim");
        let record = tokio::spawn({
            let (inbox, one) = (inbox.clone(), one.clone());
            async move { inbox.record(&one).await }
        });
        waiting(&schema, 1).await;
        if commits {
            tx.commit().await.expect("it is open");
        } else {
            tx.rollback().await.expect("it is open");
        }
        let recorded = record.await.expect("no panic").expect("a record");
        assert_eq!(recorded, [expected]);
    }
}

/// INB-24, INB-26: those that shared its call are recorded by themselves.
async fn a_record_that_waits_too_long_is_transient_and_holds_up_no_others() {
    let schema = Schema::unique();
    let options = schema
        .options()
        .with_lock_timeout(Duration::from_millis(20));
    let inbox = schema.open_with(options.expect("in range")).await;
    inbox.verify().await.expect("a fresh schema");
    let all = keys("m", 20);
    let mut holder = stranger().await;
    let tx = holder.transaction().await.expect("a transaction");
    inbox.record_in(&tx, &all[7..8]).await.expect("a claim");
    let outcomes = join_all(all.iter().map(|key| inbox.record_one(key))).await;
    for (number, outcome) in outcomes.into_iter().enumerate() {
        if number == 7 {
            let text = told(ErrorKind::Transient, outcome);
            assert!(text.contains("55P03"), "{text}");
        } else {
            assert_eq!(outcome.expect("a record"), Recorded::Now);
        }
    }
}

/// INB-26
async fn a_statement_that_takes_too_long_is_transient() {
    let schema = Schema::unique();
    schema.open().await.verify().await.expect("a fresh schema");
    let options = schema
        .options()
        .with_statement_timeout(Duration::from_millis(200));
    let inbox = schema.open_with(options.expect("in range")).await;
    inbox.verify().await.expect("it is quick");
    let one = keys("m", 1);
    let mut holder = stranger().await;
    let tx = holder.transaction().await.expect("a transaction");
    inbox.record_in(&tx, &one).await.expect("a claim");
    let text = told(ErrorKind::Transient, inbox.record(&one).await);
    assert!(text.contains("57014"), "{text}");
}

/// INB-26: the server picks a victim, whose message comes again.
async fn a_claim_that_is_the_victim_of_a_deadlock_is_transient() {
    let schema = Schema::unique();
    let (one, other) = (keys("one", 1), keys("other", 1));
    // Who looks for deadlocks first is the victim.
    let inbox = schema
        .open_set("-c deadlock_timeout=1ms", schema.options())
        .await;
    inbox.verify().await.expect("a fresh schema");
    let pool = inbox.pool().clone();
    let mut lease = inbox.lease(&pool).await.expect("a connection");
    let mut ours = Transactional::<&deadpool>::begin(&inbox, &mut lease)
        .await
        .expect("a transaction");
    ours.batch_execute("set local application_name = 'ours'")
        .await
        .expect("a setting");

    let mut config = crate::server::config();
    config.application_name(schema.name());
    let mut stranger = crate::server::stranger_with(&config).await;
    let theirs = stranger.transaction().await.expect("a transaction");
    inbox.record_in(&theirs, &other).await.expect("a claim");
    let claimed = Transactional::<&deadpool>::record_in(&inbox, &mut ours, &one).await;
    claimed.expect("a claim");
    let (their_outcome, our_outcome) =
        futures_util::future::join(inbox.record_in(&theirs, &one), async {
            waiting(&schema, 1).await;
            let outcome = Transactional::<&deadpool>::record_in(&inbox, &mut ours, &other).await;
            // Which lets the other go on.
            let rolled_back = Transactional::<&deadpool>::rollback(&inbox, ours).await;
            rolled_back.expect("rolled back");
            outcome
        })
        .await;
    let text = told(ErrorKind::Transient, our_outcome);
    assert!(text.contains("40P01"), "{text}");
    assert_eq!(their_outcome.expect("a claim"), [Recorded::Now]);
}

#[allow(non_camel_case_types, reason = "keeps the calls above on one line")]
type deadpool = nimbus_inbox_postgres::deadpool_postgres::Pool;

/// INB-24: rows go in in one order, whatever that of the keys.
async fn batches_in_opposite_orders_never_deadlock() {
    let schema = Schema::unique();
    let options = schema.options().with_batching(None);
    let inbox = schema.open_set("-c deadlock_timeout=1ms", options).await;
    inbox.verify().await.expect("a fresh schema");
    for round in 0..10 {
        let forth = keys(&format!("m-{round}"), 100);
        let back: Vec<_> = forth.iter().rev().cloned().collect();
        let calls = (0..8).map(|number| {
            let keys = if number % 2 == 0 { &forth } else { &back };
            inbox.record(keys)
        });
        let outcomes: Vec<_> = join_all(calls).await;
        let recorded = outcomes
            .into_iter()
            .flat_map(|outcome| outcome.expect("no deadlock"))
            .filter(|recorded| recorded.is_now());
        assert_eq!(recorded.count(), 100);
    }
}
