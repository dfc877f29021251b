//! Connections that are cut, half closed or killed.

use std::sync::atomic::{AtomicUsize, Ordering};

use nimbus_inbox_core::{ErrorKind, Inbox, InboxKey, InboxStore, Processed, Recorded, Timestamp};
use nimbus_inbox_postgres::PostgresInbox;
use nimbus_inbox_testing::ProxyFault;

use crate::server::{Schema, stranger};
use crate::support::{Test, cases, keys, proxied, told, waiting};

pub(crate) const TESTS: &[Test] = cases![
    a_record_whose_answer_was_lost_may_exist,
    a_record_that_never_arrived_may_exist_too,
    a_lost_answer_is_made_good_by_the_inbox,
    a_check_whose_answer_was_lost_is_transient,
    a_half_closed_connection_is_replaced,
    after_all_connections_were_cut_the_next_calls_open_new_ones,
    after_the_server_killed_all_sessions_the_next_calls_open_new_ones,
    a_session_killed_in_the_middle_of_a_record_leaves_its_outcome_unknown,
];

/// INB-26
async fn a_record_whose_answer_was_lost_may_exist() {
    let schema = Schema::unique();
    let (proxy, inbox) = proxied(&schema).await;
    let one = keys("m", 1);
    proxy.inject("insert into", ProxyFault::AnswerLost);
    let text = told(ErrorKind::OutcomeUnknown, inbox.record(&one).await);
    assert!(text.contains("doing it again is right"), "{text}");
    let again = inbox.record(&one).await;
    assert_eq!(again.expect("a new connection"), [Recorded::Already]);
}

/// INB-26: nobody can tell the two apart.
async fn a_record_that_never_arrived_may_exist_too() {
    let schema = Schema::unique();
    let (proxy, inbox) = proxied(&schema).await;
    let one = keys("m", 1);
    proxy.inject("insert into", ProxyFault::RequestLost);
    told(ErrorKind::OutcomeUnknown, inbox.record(&one).await);
    let again = inbox.record(&one).await;
    assert_eq!(again.expect("a new connection"), [Recorded::Now]);
}

/// INB-26: the record is retried once, so that the handler needn't be.
async fn a_lost_answer_is_made_good_by_the_inbox() {
    let schema = Schema::unique();
    let (proxy, store) = proxied(&schema).await;
    let inbox = Inbox::new("Billing", store).expect("usable");
    let runs = AtomicUsize::new(0);
    proxy.inject("insert into", ProxyFault::AnswerLost);
    for is_duplicate in [false, true] {
        let outcome: Result<Processed<usize>, anyhow::Error> = inbox
            .process("m-1", async || Ok(runs.fetch_add(1, Ordering::SeqCst)))
            .await;
        assert_eq!(outcome.expect("an outcome").is_duplicate(), is_duplicate);
    }
    assert_eq!(runs.load(Ordering::SeqCst), 1);
}

/// INB-26
async fn a_check_whose_answer_was_lost_is_transient() {
    let schema = Schema::unique();
    let (proxy, inbox) = proxied(&schema).await;
    for fault in [ProxyFault::AnswerLost, ProxyFault::RequestLost] {
        proxy.inject("select identity_hash", fault);
        told(ErrorKind::Transient, inbox.check(&keys("m", 1)).await);
        let again = inbox.check(&keys("m", 1)).await;
        assert_eq!(again.expect("a new connection"), [None]);
    }
}

/// INB-26: the server hears that nothing more will come, answers, and goes.
async fn a_half_closed_connection_is_replaced() {
    let schema = Schema::unique();
    let (proxy, inbox) = proxied(&schema).await;
    for number in 0..5 {
        let one = keys(&format!("m-{number}"), 1);
        proxy.inject("insert into", ProxyFault::HalfClose);
        let first = inbox.record(&one).await;
        if let Err(error) = &first {
            assert_eq!(error.kind(), ErrorKind::OutcomeUnknown, "{error:?}");
        }
        let found = checked(&inbox, &one).await;
        assert!(first.is_err() || found[0].is_some());
    }
}

/// INB-26: the store is of use again as soon as the server is.
async fn after_all_connections_were_cut_the_next_calls_open_new_ones() {
    let schema = Schema::unique();
    let (proxy, inbox) = proxied(&schema).await;
    let before = proxy.accepted();
    for number in 0..5 {
        proxy.cut();
        let one = keys(&format!("m-{number}"), 1);
        recorded(&inbox, &one).await;
        let found = inbox.check(&one).await.expect("the same connection");
        assert!(found[0].is_some());
    }
    assert!(proxy.accepted() > before);
}

/// A connection that was lost while it lay idle is noticed a moment later; the call that is
/// faster fails.
async fn recorded(inbox: &PostgresInbox, keys: &[InboxKey]) {
    while let Err(error) = inbox.record(keys).await {
        assert!(error.is_transient(), "{error:?}");
        tokio::task::yield_now().await;
    }
}

async fn checked(inbox: &PostgresInbox, keys: &[InboxKey]) -> Vec<Option<Timestamp>> {
    loop {
        match inbox.check(keys).await {
            Ok(found) => return found,
            Err(error) => assert!(error.is_transient(), "{error:?}"),
        }
        tokio::task::yield_now().await;
    }
}

async fn kill(schema: &Schema, condition: &str) -> i64 {
    let stranger = stranger().await;
    let row = stranger
        .query_one(
            &format!(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity
                 where application_name = $1 and {condition}"
            ),
            &[&schema.name()],
        )
        .await;
    row.expect("the server lets tests kill sessions").get(0)
}

/// INB-26
async fn after_the_server_killed_all_sessions_the_next_calls_open_new_ones() {
    let schema = Schema::unique();
    let (_proxy, inbox) = proxied(&schema).await;
    for number in 0..5 {
        let one = keys(&format!("m-{number}"), 1);
        assert!(kill(&schema, "true").await > 0);
        recorded(&inbox, &one).await;
        assert!(inbox.check(&one).await.expect("a new session")[0].is_some());
    }
}

/// INB-26: the server's word that it ends a session says nothing about the statement.
async fn a_session_killed_in_the_middle_of_a_record_leaves_its_outcome_unknown() {
    let schema = Schema::unique();
    let (_proxy, inbox) = proxied(&schema).await;
    let one = keys("m", 1);
    // Its record waits for this transaction.
    let mut holder = stranger().await;
    let tx = holder.transaction().await.expect("a transaction");
    let held = inbox.record_in(&tx, &one).await;
    assert_eq!(held.expect("a claim"), [Recorded::Now]);
    let record = tokio::spawn({
        let (inbox, one) = (inbox.clone(), one.clone());
        async move { inbox.record(&one).await }
    });
    waiting(&schema, 1).await;
    assert_eq!(kill(&schema, "wait_event_type = 'Lock'").await, 1);
    let text = told(ErrorKind::OutcomeUnknown, record.await.expect("no panic"));
    assert!(text.contains("57P01"), "{text}");
    tx.rollback().await.expect("it is open");
    let again = inbox.record(&one).await;
    assert_eq!(again.expect("a new session"), [Recorded::Now]);
}
