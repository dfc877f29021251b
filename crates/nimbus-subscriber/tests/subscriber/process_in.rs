//! Effects and record in the handler's own transaction.

use std::error::Error as StdError;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use nimbus_inbox_core::InboxSetup;
use nimbus_inbox_testing::CountingStore;
use nimbus_subscriber::{DuplicateDetected, LifecycleObserver, RetryPolicy};
use tokio::task::AbortHandle;

use crate::support::{ENDPOINT, EVENT_TYPE, Logs, Process, World};

/// SUB-39, INB-41, INB-06: while the handler runs there is neither effect nor record; both are
/// there before anyone is told. INB-07: the subscriber checks once and records nothing itself.
#[tokio::test(start_paused = true)]
async fn effect_and_record_commit_together() {
    let world = World::new().await;
    let process = world.process();
    let counted = CountingStore::new(process.store.clone());
    let (inbox, script) = (world.inbox.clone(), world.script.clone());
    world.script.next("a", async move |_| {
        tokio::time::sleep(Duration::from_secs(1)).await;
        assert!(inbox.is_empty() && script.done().is_empty());
        Ok(())
    });
    world.place("a").await;
    let builder = process.claiming_without_inbox(&world);
    let running = process.start(builder.inbox(InboxSetup::new(counted.clone())));
    tokio::time::sleep(Duration::from_secs(60)).await;
    let counts = counted.counts();
    assert_eq!((counts.check.calls, counts.record.calls), (1, 0));
    let report = running.stop().await;
    assert_eq!((report.handled, report.failed), (1, 0));
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.recorded(), ["m-a"]);
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    world.assert_idle();
}

#[derive(Debug, Clone, Default)]
struct Seen(Arc<Mutex<Vec<bool>>>);

#[async_trait]
impl LifecycleObserver for Seen {
    async fn on_duplicate_detected(
        &self,
        event: &DuplicateDetected<'_>,
    ) -> Result<(), Box<dyn StdError + Send + Sync>> {
        self.0.lock().unwrap().push(event.first_recorded.is_some());
        Ok(())
    }
}

/// SUB-39, INB-09: a subscriber without an inbox checks nothing, so its handler's claim finds the
/// record: the work does not run, observers are told, the resolver is, the message is completed,
/// and it is logged once.
#[tokio::test(start_paused = true)]
async fn a_duplicate_that_the_claim_finds_takes_the_duplicate_path() {
    let logs = Logs::capture();
    let world = World::new().await;
    let process = world.process();
    let seen = Seen::default();
    world.place("a").await;
    world.place("a").await;
    let builder = process.claiming_without_inbox(&world);
    let running = process.start(builder.observer(seen.clone()));
    world.settle().await;
    let report = running.stop().await;
    assert_eq!((report.handled, report.duplicates), (1, 1));
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(world.lines(), ["ResolutionResponse a", "SkipResponse a"]);
    assert_eq!(world.told()[1].error_text(), Some("DuplicateDetected"));
    assert_eq!(*seen.0.lock().unwrap(), [false]);
    let lines = logs.lines("duplicate delivery skipped");
    assert_eq!(lines.len(), 1);
    let (_, fields) = lines[0].split_once("duplicate delivery skipped").unwrap();
    assert!(fields.contains(EVENT_TYPE), "{fields}");
    world.assert_idle();
}

/// SUB-39, INB-41: of two first deliveries at once, both of which the check calls new, one runs;
/// the other waits for its transaction and is skipped.
#[tokio::test(start_paused = true)]
async fn of_two_first_deliveries_at_once_one_runs() {
    let world = World::new().await;
    world.script.next("a", async |_| {
        tokio::time::sleep(Duration::from_secs(5)).await;
        Ok(())
    });
    for _ in 0..2 {
        world.publish(World::event("a").to(ENDPOINT)).await;
    }
    let process = world.process();
    let running = process.start(process.claiming(&world));
    world.settle().await;
    let report = running.stop().await;
    assert_eq!((report.handled, report.duplicates), (1, 1));
    assert_eq!(world.script.begun(), ["a"]);
    world.assert_idle();
}

/// SUB-39, INB-03: an unusable id runs in a transaction without a record, and is warned of once,
/// with an inbox of the subscriber and without.
#[tokio::test(start_paused = true)]
async fn an_unusable_id_runs_without_a_claim() {
    for with_inbox in [true, false] {
        let logs = Logs::capture();
        let world = World::new().await;
        let process = world.process();
        let event = World::event("a").with_message_id(" ");
        world.publish(event.to(ENDPOINT)).await;
        let running = process.start(if with_inbox {
            process.claiming(&world)
        } else {
            process.claiming_without_inbox(&world)
        });
        world.settle().await;
        running.stop().await;
        assert_eq!(world.script.done(), ["a"]);
        assert_eq!(world.recorded(), [""; 0]);
        assert_eq!(world.lines(), ["ResolutionResponse a"]);
        assert_eq!(logs.lines("can't be deduplicated").len(), 1);
    }
}

/// SUB-39, INB-14: the run is dropped at every point, before and after each effect and in the
/// handler. Effect and record are both there or both not, and the end is one effect.
#[tokio::test(start_paused = true)]
async fn a_dropped_run_leaves_both_or_neither() {
    let (mut finished, mut in_vain) = (0, 0);
    for at in 0.. {
        let world = World::new().await;
        let process = world.process();
        let abort = Arc::new(OnceLock::<AbortHandle>::new());
        let aborted = Arc::clone(&abort);
        let strike = process.plan(&world, at, move || aborted.get().unwrap().abort());
        let steps = strike.clone();
        world.script.next("a", async move |_| {
            steps.point();
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(())
        });
        world.place("a").await;
        let running = process.start(process.claiming(&world));
        abort.set(running.task.abort_handle()).unwrap();
        world.settle().await;
        if !strike.has_struck() {
            running.stop().await;
            break;
        }
        let context = format!("point {at}");
        let effects = world.script.done().len();
        assert_eq!(effects, world.recorded().len(), "{context}");
        if effects == 0 {
            in_vain += 1;
            assert_eq!(world.lines(), [""; 0], "{context}");
        } else {
            finished += 1;
        }
        let second = world.process();
        let running = second.start(second.claiming(&world));
        world.settle().await;
        running.stop().await;
        assert_eq!(world.script.done(), ["a"], "{context}");
        world.assert_idle();
    }
    assert!(finished >= 4 && in_vain >= 4, "{finished}, {in_vain}");
}

/// SUB-39, INB-40: a process dies at every effect, with a failing event, its retry and a message
/// that is parked behind it; with and without an inbox of the subscriber. No effect is lost,
/// reordered, or there twice: the window between effect and record is closed.
#[tokio::test(start_paused = true)]
async fn a_crash_at_any_effect_repeats_none() {
    for with_inbox in [true, false] {
        let builder = |process: &Process, world: &World| {
            let builder = if with_inbox {
                process.claiming(world)
            } else {
                process.claiming_without_inbox(world)
            };
            builder.retry(RetryPolicy::fixed(Duration::from_secs(5)))
        };
        let mut explored = 0;
        for at in 0.. {
            let world = World::new().await;
            world.script.fail("a", 1);
            world.place("a").await;
            world.place("b").await;
            let process = world.process();
            let strike = process.plan_crash(&world, Some(at));
            let first = process.start(builder(&process, &world));
            world.settle().await;
            if !strike.has_struck() {
                first.stop().await;
                break;
            }
            first.kill();
            explored += 1;
            let second = world.process();
            let running = second.start(builder(&second, &world));
            world.settle().await;
            running.stop().await;
            let context = format!("inbox {with_inbox}, point {at}: {:?}", world.lines());
            assert_eq!(world.script.done(), ["a", "b"], "{context}");
            assert!(!world.state().is_blocked(), "{context}");
            assert_eq!(world.parked(), [], "{context}");
            world.assert_idle();
        }
        assert!(explored > 40, "{explored}");
    }
}
