//! Concurrent callers that share round trips.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

use std::num::NonZeroUsize;
use std::pin::pin;
use std::time::Duration;

use futures_util::future::{join_all, poll_immediate};
use nimbus_inbox_core::{
    Batching, Cutoff, Error, ErrorKind, InboxKey, InboxStore, InboxStoreExt, PurgeLimit, Recorded,
};
use nimbus_inbox_testing::{
    CountingStore, Fault, FaultyStore, GateStore, InMemoryInbox, Point, When, key,
};
use tokio::task::{JoinHandle, yield_now};

type Layers = GateStore;

/// A store with all wrappers: gate over counting over faults over memory.
struct Stack {
    memory: InMemoryInbox,
    faults: FaultyStore,
    counts: CountingStore,
    gate: GateStore,
    batching: std::sync::Arc<Batching<Layers>>,
}

impl Stack {
    fn new(max_keys: usize) -> Self {
        let memory = InMemoryInbox::new();
        let faults = FaultyStore::new(memory.clone());
        let counts = CountingStore::new(faults.clone());
        let gate = GateStore::new(counts.clone());
        let max_keys = NonZeroUsize::new(max_keys).unwrap();
        Self {
            memory,
            faults,
            counts,
            batching: std::sync::Arc::new(Batching::with_max_keys(gate.clone(), max_keys)),
            gate,
        }
    }

    fn record(&self, keys: Vec<InboxKey>) -> JoinHandle<Result<Vec<Recorded>, Error>> {
        let batching = std::sync::Arc::clone(&self.batching);
        tokio::spawn(async move { batching.record(&keys).await })
    }

    fn record_one(&self, id: &str) -> JoinHandle<Result<Vec<Recorded>, Error>> {
        self.record(vec![key("Billing", id)])
    }
}

/// Lets everything that can move come to rest.
async fn settle() {
    for _ in 0..50 {
        yield_now().await;
    }
}

/// A call on its own goes out at once, alone.
#[tokio::test]
async fn a_call_on_its_own_waits_for_nobody() {
    let stack = Stack::new(500);
    for n in 0..3 {
        stack
            .batching
            .record_one(&key("Billing", &format!("m-{n}")))
            .await
            .unwrap();
        stack
            .batching
            .check_one(&key("Billing", "m-0"))
            .await
            .unwrap();
    }
    let counts = stack.counts.counts();
    assert_eq!((counts.record.calls, counts.check.calls), (3, 3));
}

/// INB-24: those that arrive while a call is in flight go together, each with its own answer.
#[tokio::test]
async fn those_that_arrive_meanwhile_go_together() {
    let stack = Stack::new(500);
    stack
        .memory
        .record_one(&key("Billing", "known"))
        .await
        .unwrap();
    let mut records = stack.gate.hold(When::record(), Point::BeforeEffect);
    let first = stack.record_one("first");
    let held = records.reached().await;
    let known = stack.record_one("known");
    let pair = stack.record(vec![key("Billing", "a"), key("Billing", "known")]);
    let twice = [stack.record_one("twice"), stack.record_one("twice")];
    // A check is not held up by records.
    assert!(
        stack
            .batching
            .check_one(&key("Billing", "known"))
            .await
            .unwrap()
            .is_some()
    );
    settle().await;
    held.release();
    let batch = records.reached().await;
    assert_eq!(batch.keys().len(), 5);
    batch.release();

    assert_eq!(first.await.unwrap().unwrap(), [Recorded::Now]);
    assert_eq!(known.await.unwrap().unwrap(), [Recorded::Already]);
    assert_eq!(
        pair.await.unwrap().unwrap(),
        [Recorded::Now, Recorded::Already]
    );
    let mut answers = Vec::new();
    for call in twice {
        answers.extend(call.await.unwrap().unwrap());
    }
    assert_eq!(answers, [Recorded::Now, Recorded::Already]);
    assert_eq!(stack.counts.counts().record.calls, 2);
}

/// INB-21: of 64 concurrent records of one id exactly one says "recorded now".
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_64_concurrent_records_one_is_now() {
    let stack = Stack::new(7);
    let calls: Vec<_> = (0..64).map(|_| stack.record_one("m-1")).collect();
    let mut now = 0;
    for call in calls {
        now += call
            .await
            .unwrap()
            .unwrap()
            .iter()
            .filter(|r| r.is_now())
            .count();
    }
    assert_eq!(now, 1);
    assert_eq!(stack.memory.len(), 1);
}

/// A batch holds whole callers up to the limit; a larger caller has a call to itself.
#[tokio::test]
async fn a_batch_never_splits_a_caller() {
    let stack = Stack::new(4);
    let mut records = stack.gate.hold(When::record(), Point::BeforeEffect);
    let keys = |name: &str, count: usize| -> Vec<_> {
        (0..count)
            .map(|n| key("Billing", &format!("{name}-{n}")))
            .collect()
    };
    let mut calls = vec![stack.record_one("first")];
    let mut held = records.reached().await;
    for (name, count) in [("a", 3), ("b", 2), ("c", 2), ("d", 9), ("e", 1)] {
        calls.push(stack.record(keys(name, count)));
        settle().await;
    }
    let mut sizes = Vec::new();
    for _ in 0..4 {
        held.release();
        held = records.reached().await;
        sizes.push(held.keys().len());
    }
    held.release();
    join_all(calls).await;
    assert_eq!(sizes, [3, 4, 9, 1]);
    assert_eq!(stack.memory.len(), 18);
}

/// One caller's key that a store can't take fails that caller alone.
#[tokio::test]
async fn a_failing_caller_fails_alone() {
    for fault in [
        Fault::fail(|operation| Error::configuration(operation, "refused")),
        Fault::panic(),
    ] {
        let stack = Stack::new(500);
        let poison = key("Billing", "poison");
        stack.faults.inject(When::record().with_key(&poison), fault);
        let mut records = stack
            .gate
            .hold(When::record().first(1), Point::BeforeEffect);
        let mut calls = vec![stack.record_one("first")];
        let held = records.reached().await;
        for id in ["a", "poison", "b"] {
            calls.push(stack.record_one(id));
        }
        settle().await;
        held.release();
        let mut outcomes = Vec::new();
        for call in calls {
            outcomes.push(call.await.unwrap().is_ok());
        }
        assert_eq!(outcomes, [true, true, false, true]);
        // One alone, three together, three one by one.
        assert_eq!(stack.counts.counts().record.calls, 5);
        assert_eq!(stack.memory.len(), 3);
    }
}

/// A caller's own error reaches it as the store said it.
#[tokio::test]
async fn an_error_is_the_stores_own() {
    let stack = Stack::new(500);
    stack.faults.inject(
        When::check(),
        Fault::fail(|operation| {
            Error::configuration(operation, "refused").with_retry_after(Duration::from_secs(3))
        }),
    );
    let error = stack
        .batching
        .check_one(&key("Billing", "m"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Configuration);
    assert_eq!(error.retry_after(), Some(Duration::from_secs(3)));
}

/// Callers that are dropped hold nobody up: neither in a call, nor while they wait, nor in a call
/// that hangs.
#[tokio::test]
async fn a_dropped_caller_holds_nobody_up() {
    let stack = Stack::new(500);
    let mut records = stack.gate.hold(When::record(), Point::BeforeEffect);
    let hanging = stack.record_one("hanging");
    let mut held = records.reached().await;
    let waiting = stack.record_one("waiting");
    let patient = stack.record_one("patient");
    settle().await;
    waiting.abort();
    hanging.abort();
    // Its only caller is gone, so the call that hangs is dropped and the lane goes on.
    held.dropped().await;
    let next = records.reached().await;
    assert_eq!(next.keys(), [key("Billing", "patient")]);
    next.release();
    assert_eq!(patient.await.unwrap().unwrap(), [Recorded::Now]);
    assert_eq!(stack.memory.keys(), [key("Billing", "patient")]);
}

/// INB-25: dropped at any poll, a caller leaves a whole record or none, and the store usable.
#[tokio::test]
async fn a_drop_at_any_poll_leaves_the_store_usable() {
    let stack = Stack::new(500);
    for k in 0..8 {
        let pair = [
            key("Billing", &format!("a-{k}")),
            key("Billing", &format!("b-{k}")),
        ];
        {
            let mut record = pin!(stack.batching.record(&pair));
            for _ in 0..k {
                if poll_immediate(record.as_mut()).await.is_some() {
                    break;
                }
                yield_now().await;
            }
        }
        settle().await;
        let found = stack.batching.check(&pair).await.unwrap();
        assert_eq!(found[0].is_some(), found[1].is_some());
        stack.batching.record(&pair).await.unwrap();
    }
    assert_eq!(stack.memory.len(), 16);
}

/// The end of the runtime that runs a shared call fails its callers instead of leaving them
/// waiting, and the next runtime finds a working store.
#[test]
fn the_end_of_a_runtime_leaves_nobody_waiting() {
    let runtime = || {
        tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .build()
            .unwrap()
    };
    let stack = Stack::new(500);
    let records = stack.gate.hold(When::record(), Point::BeforeEffect);
    let (working, callers) = (runtime(), runtime());
    let keys = [key("Billing", "m-1")];
    let mut first = pin!(stack.batching.record(&keys));
    let mut second = pin!(stack.batching.record(&keys));
    working.block_on(async {
        assert!(poll_immediate(first.as_mut()).await.is_none());
        settle().await;
        assert!(poll_immediate(second.as_mut()).await.is_none());
    });
    drop(working);
    callers.block_on(async {
        assert!(first.await.unwrap_err().is_transient());
        assert!(second.await.unwrap_err().is_transient());
        drop(records);
        assert_eq!(stack.batching.record(&keys).await.unwrap(), [Recorded::Now]);
    });
}

/// What is not batched goes straight through.
#[tokio::test]
async fn the_rest_is_forwarded() {
    let stack = Stack::new(500);
    stack.faults.inject(When::verify(), Fault::transient());
    assert!(stack.batching.verify().await.is_err());
    assert_eq!(stack.batching.provider(), stack.memory.provider());
    assert_eq!(stack.batching.capabilities(), stack.memory.capabilities());
    let key = key("Billing", "m-1");
    stack.batching.record_one(&key).await.unwrap();
    let future = stack.memory.check_one(&key).await.unwrap().unwrap();
    let cutoff = Cutoff::Before(future.saturating_add(Duration::from_secs(1)));
    let purge = stack
        .batching
        .purge(key.endpoint(), cutoff, PurgeLimit::default());
    assert_eq!(purge.await.unwrap(), 1);
    assert_eq!(stack.batching.record(&[]).await.unwrap(), []);
    assert_eq!(stack.counts.counts().record.calls, 1);
}
