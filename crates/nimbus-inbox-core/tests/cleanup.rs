//! Retention: passes, caps, failures, shutdown.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

#[path = "support/logs.rs"]
mod logs;
#[path = "support/metrics.rs"]
mod metrics;

use std::pin::pin;
use std::time::Duration;

use futures_util::future::poll_immediate;
use logs::Logs;
use metrics::Metrics;
use nimbus_inbox_core::{
    CleanupEnd, CleanupTask, Error, ErrorKind, Inbox, InboxOptions, InboxStore, Processed,
    PurgeLimit,
};
use nimbus_inbox_testing::{
    CountingStore, Fault, FaultyStore, GateStore, InMemoryInbox, Point, TokioClock, When, key,
};
use tokio::time::{Instant, sleep};
use tokio_util::sync::CancellationToken;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const HOUR: Duration = Duration::from_secs(60 * 60);

async fn fill(store: &InMemoryInbox, endpoint: &str, count: usize) {
    let keys: Vec<_> = (0..count)
        .map(|n| key(endpoint, &format!("m-{n}")))
        .collect();
    store.record(&keys).await.unwrap();
}

fn options() -> InboxOptions {
    InboxOptions::default().with_purge_limit(PurgeLimit::new(10).unwrap())
}

/// INB-34, INB-23: the defaults, and the values that are refused.
#[test]
fn retention_and_interval_have_defaults_and_refuse_zero() {
    let options = InboxOptions::default();
    assert_eq!(options.retention_period(), 7 * DAY);
    assert_eq!(options.cleanup_interval(), HOUR);
    assert_eq!(options.purge_limit().get(), 1_000);
    let refused = [
        options.clone().with_retention_period(Duration::ZERO),
        options.clone().with_cleanup_interval(Duration::ZERO),
        options.clone().with_store_timeout(Duration::ZERO),
        options.with_purge_batches_per_pass(0),
    ];
    for refusal in refused {
        assert_eq!(refusal.unwrap_err().kind(), ErrorKind::Configuration);
    }
    assert!(PurgeLimit::new(0).is_err() && PurgeLimit::new(10_001).is_err());
    assert_eq!(PurgeLimit::new(10_000).unwrap(), PurgeLimit::MAX);
}

/// INB-40: a message is recognised until its record expires, and is new after that.
#[tokio::test(start_paused = true)]
async fn a_message_whose_record_expired_runs_again() {
    let memory = InMemoryInbox::with_clock(TokioClock::default());
    let inbox = Inbox::new("Billing", memory).unwrap();
    let task = CleanupTask::new(inbox.clone());
    let stop = CancellationToken::new();
    let deliver = async || {
        let done = inbox.process("m-1", async || Ok::<_, Error>(()));
        matches!(done.await.unwrap(), Processed::Handled(_))
    };
    assert!(deliver().await);
    sleep(6 * DAY).await;
    assert_eq!(task.pass(&stop).await.unwrap().removed, 0);
    assert!(!deliver().await);
    sleep(2 * DAY).await;
    assert_eq!(task.pass(&stop).await.unwrap().removed, 1);
    assert!(deliver().await);
    assert!(!deliver().await);
}

/// INB-35: a pass removes its own endpoint's expired records by its own retention only.
#[tokio::test(start_paused = true)]
async fn a_pass_keeps_to_its_endpoint_and_retention() {
    let memory = InMemoryInbox::with_clock(TokioClock::default());
    fill(&memory, "Billing", 3).await;
    fill(&memory, "billing", 3).await;
    sleep(2 * DAY).await;
    memory.record(&[key("Billing", "young")]).await.unwrap();

    let clean = async |endpoint: &str, retention: Duration| {
        let options = InboxOptions::default()
            .with_retention_period(retention)
            .unwrap();
        let inbox = Inbox::with_options(endpoint, memory.clone(), options).unwrap();
        let pass = CleanupTask::new(inbox);
        pass.pass(&CancellationToken::new()).await.unwrap().removed
    };
    assert_eq!(clean("Billing", 3 * DAY).await, 0);
    assert_eq!(clean("Billing", DAY).await, 3);
    assert_eq!(memory.len(), 4);
    assert_eq!(clean("billing", DAY).await, 3);
    assert_eq!(memory.keys(), [key("Billing", "young")]);
}

/// INB-36: a pass goes on while a batch comes back full, with a pause in between. INB-38: what it
/// removed is counted.
#[tokio::test(start_paused = true)]
async fn a_pass_goes_on_until_a_batch_comes_back_short() {
    let metrics = Metrics::new();
    let memory = InMemoryInbox::with_clock(TokioClock::default());
    fill(&memory, "Billing", 35).await;
    sleep(8 * DAY).await;
    let options = metrics
        .options()
        .with_purge_limit(PurgeLimit::new(10).unwrap())
        .with_purge_pause(Duration::from_secs(1));
    let inbox = Inbox::with_options("Billing", memory.clone(), options).unwrap();
    let started = Instant::now();
    let report = CleanupTask::new(inbox)
        .pass(&CancellationToken::new())
        .await
        .unwrap();
    assert_eq!((report.removed, report.batches), (35, 4));
    assert_eq!(report.end, CleanupEnd::CaughtUp);
    assert_eq!(started.elapsed(), Duration::from_secs(3));
    assert!(memory.is_empty());
    assert_eq!(metrics.of("nimbus.inbox.purged")[0].1, 35);
    assert_eq!(metrics.of("nimbus.inbox.purge.backlog")[0].1, 0);
}

/// INB-36, INB-38: a pass stops at its cap, says so, also in the gauge, and the next one goes on.
#[tokio::test(start_paused = true)]
async fn a_capped_pass_reports_what_it_left() {
    let metrics = Metrics::new();
    let memory = InMemoryInbox::with_clock(TokioClock::default());
    fill(&memory, "Billing", 35).await;
    sleep(8 * DAY).await;
    let options = metrics
        .options()
        .with_purge_limit(PurgeLimit::new(10).unwrap())
        .with_purge_batches_per_pass(2)
        .unwrap();
    let inbox = Inbox::with_options("Billing", memory.clone(), options).unwrap();
    let task = CleanupTask::new(inbox);
    let stop = CancellationToken::new();
    let report = task.pass(&stop).await.unwrap();
    assert_eq!((report.removed, report.end), (20, CleanupEnd::Capped));
    assert_eq!(metrics.of("nimbus.inbox.purge.backlog")[0].1, 10);
    let report = task.pass(&stop).await.unwrap();
    assert_eq!((report.removed, report.end), (15, CleanupEnd::CaughtUp));
    assert_eq!(metrics.of("nimbus.inbox.purge.backlog")[0].1, 0);
}

/// INB-35: the first pass comes within a minute, the others at the interval, and a failed one
/// changes nothing about that.
#[tokio::test(start_paused = true)]
async fn passes_keep_their_interval_also_after_a_failure() {
    let logs = Logs::capture();
    let faulty = FaultyStore::new(InMemoryInbox::new());
    let counting = CountingStore::new(faulty.clone());
    let inbox = Inbox::with_options("Billing", counting.clone(), options()).unwrap();
    let stop = CancellationToken::new();
    faulty.inject(When::purge().nth(2), Fault::transient());
    let task = tokio::spawn(CleanupTask::new(inbox).run(stop.clone()));

    sleep(Duration::from_secs(60)).await;
    assert_eq!(counting.counts().purge.calls, 1);
    for passes in 2..5 {
        sleep(HOUR).await;
        assert_eq!(counting.counts().purge.calls, passes);
    }
    assert_eq!(logs.events("WARN", "cleanup pass failed").len(), 1);
    stop.cancel();
    task.await.unwrap();
}

/// INB-35: shutdown ends the task at once while it waits, purges or pauses.
#[tokio::test(start_paused = true)]
async fn shutdown_is_prompt_at_every_stage() {
    // While it waits for the first pass.
    let stop = CancellationToken::new();
    let inbox = Inbox::new("Billing", InMemoryInbox::new()).unwrap();
    let mut waiting = pin!(CleanupTask::new(inbox).run(stop.clone()));
    assert!(poll_immediate(waiting.as_mut()).await.is_none());
    stop.cancel();
    assert!(poll_immediate(waiting).await.is_some());

    // In the middle of a purge, which is dropped.
    let store = GateStore::new(InMemoryInbox::new());
    let mut purges = store.hold(When::purge(), Point::BeforeEffect);
    let stop = CancellationToken::new();
    let inbox = Inbox::new("Billing", store).unwrap();
    let task = tokio::spawn(CleanupTask::new(inbox).run(stop.clone()));
    let mut held = purges.reached().await;
    let stopped = Instant::now();
    stop.cancel();
    task.await.unwrap();
    held.dropped().await;
    assert_eq!(stopped.elapsed(), Duration::ZERO);

    // In the pause between two batches.
    let memory = InMemoryInbox::with_clock(TokioClock::default());
    fill(&memory, "Billing", 20).await;
    sleep(8 * DAY).await;
    let counting = CountingStore::new(memory);
    let options = options().with_purge_pause(DAY);
    let inbox = Inbox::with_options("Billing", counting.clone(), options).unwrap();
    let stop = CancellationToken::new();
    let task = tokio::spawn({
        let stop = stop.clone();
        async move { CleanupTask::new(inbox).pass(&stop).await }
    });
    sleep(HOUR).await;
    assert_eq!(counting.counts().purge.calls, 1);
    stop.cancel();
    let report = task.await.unwrap().unwrap();
    assert_eq!((report.removed, report.end), (10, CleanupEnd::Stopped));
}

/// INB-36: several replicas that clean at once remove each record once.
#[tokio::test(start_paused = true)]
async fn replicas_may_clean_at_once() {
    let memory = InMemoryInbox::with_clock(TokioClock::default());
    fill(&memory, "Billing", 95).await;
    sleep(8 * DAY).await;
    let stop = CancellationToken::new();
    let passes: Vec<_> = (0..3)
        .map(|_| {
            let (memory, stop) = (memory.clone(), stop.clone());
            tokio::spawn(async move {
                let inbox = Inbox::with_options("Billing", memory, options()).unwrap();
                CleanupTask::new(inbox).pass(&stop).await.unwrap().removed
            })
        })
        .collect();
    let mut removed = 0;
    for pass in passes {
        removed += pass.await.unwrap();
    }
    assert_eq!(removed, 95);
}
