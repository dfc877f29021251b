//! The pool: bounded, never waited for without end, and never given a connection in doubt.

use std::num::NonZeroUsize;
use std::time::Duration;

use futures_util::future::join_all;
use nimbus_inbox_core::{ErrorKind, InboxStore, InboxStoreExt, Recorded};
use nimbus_inbox_postgres::PostgresInboxOptions;
use nimbus_inbox_testing::key;

use crate::server::Schema;
use crate::support::{Test, cases, drop_after, keys, proxied, told};

pub(crate) const TESTS: &[Test] = cases![
    a_pool_that_is_exhausted_is_transient,
    a_good_call_follows_a_thousand_cancelled_acquisitions,
    a_call_that_is_dropped_while_the_server_is_silent_gives_its_place_back,
    dropped_calls_open_no_more_connections_than_the_pool_has_places,
];

fn of_one(schema: &Schema) -> PostgresInboxOptions {
    schema.options().with_pool_size(NonZeroUsize::MIN)
}

/// INB-26
async fn a_pool_that_is_exhausted_is_transient() {
    let schema = Schema::unique();
    schema.open().await.verify().await.expect("a fresh schema");
    let options = of_one(&schema).with_acquire_timeout(Duration::from_millis(20));
    let inbox = schema.open_with(options.expect("in range")).await;
    let held = loop {
        // Connecting counts too, and a busy machine may need longer for it.
        if let Ok(held) = inbox.pool().get().await {
            break held;
        }
    };
    let text = told(ErrorKind::Transient, inbox.check(&keys("m", 1)).await);
    assert!(text.contains("raise the pool size"), "{text}");
    drop(held);
    inbox.check(&keys("m", 1)).await.expect("its place is free");
}

/// INB-25: who gives up waiting takes nothing along.
async fn a_good_call_follows_a_thousand_cancelled_acquisitions() {
    let schema = Schema::unique();
    let inbox = schema.open_with(of_one(&schema).with_batching(None)).await;
    inbox.verify().await.expect("a fresh schema");
    let held = inbox.pool().get().await.expect("its only connection");
    let all = keys("m", 1_000);
    let waiting = all
        .iter()
        .map(|one| drop_after(1, inbox.record(std::slice::from_ref(one))));
    assert!(join_all(waiting).await.iter().all(Option::is_none));
    drop(held);
    let recorded = inbox.record_one(&key("Billing", "good")).await;
    assert_eq!(recorded.expect("a connection"), Recorded::Now);
    let found = inbox.check(&all).await.expect("a check");
    assert!(found.iter().all(Option::is_none), "nothing was sent");
}

/// INB-25: the connection is given up, and nobody else waits behind what was asked on it.
async fn a_call_that_is_dropped_while_the_server_is_silent_gives_its_place_back() {
    let schema = Schema::unique();
    let (proxy, _) = proxied(&schema).await;
    let address = schema.through(proxy.address());
    let inbox = schema
        .open_at(&address, of_one(&schema).with_batching(None))
        .await;
    inbox.verify().await.expect("through the proxy");
    let before = proxy.accepted();
    let mut held = proxy.hold("insert into");
    let one = keys("m", 1);
    tokio::select! {
        outcome = inbox.record(&one) => panic!("nothing answers: {outcome:?}"),
        () = held.arrived() => {}
    }
    let recorded = inbox.record(&one).await;
    assert_eq!(recorded.expect("a new connection"), [Recorded::Now]);
    assert_eq!(proxy.accepted(), before + 1);
    drop(held);
}

/// INB-25: a dropped call keeps its place until its connection is idle or closed.
async fn dropped_calls_open_no_more_connections_than_the_pool_has_places() {
    let schema = Schema::unique();
    let (proxy, _) = proxied(&schema).await;
    let address = schema.through(proxy.address());
    let inbox = schema
        .open_at(&address, of_one(&schema).with_batching(None))
        .await;
    inbox.verify().await.expect("through the proxy");
    let before = proxy.accepted();
    for number in 0..50 {
        let one = keys(&format!("m-{number}"), 1);
        for polls in 1..4 {
            drop_after(polls, inbox.record(&one)).await;
        }
        inbox.record(&one).await.expect("the connection came back");
    }
    assert_eq!(
        proxy.accepted(),
        before,
        "answers came, so nothing was closed"
    );
}
