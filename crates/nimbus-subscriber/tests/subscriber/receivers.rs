//! Locks, fences and how many sessions are worked on at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use nimbus_inbox_testing::{BrokerOperation, BrokerOptions, BrokerPoint};
use nimbus_messaging::SessionState;
use nimbus_subscriber::{HandlerError, RetryPolicy};
use tokio_util::sync::CancellationToken;

use crate::support::{Calls, Disturb, ENDPOINT, Journal, World, session};

fn policy() -> RetryPolicy {
    RetryPolicy::fixed(Duration::from_secs(5))
}

/// How many handlers run at a time, in all and per session.
#[derive(Clone, Default)]
struct Load(Arc<LoadCounts>);

#[derive(Default)]
struct LoadCounts {
    now: AtomicUsize,
    most: AtomicUsize,
    by_session: Mutex<BTreeMap<String, usize>>,
}

impl Load {
    fn place(&self, world: &World, session: &str, order: &str) -> String {
        let (load, session) = (self.0.clone(), session.to_owned());
        world.script.next(order, async move |_| {
            let now = load.now.fetch_add(1, Ordering::SeqCst) + 1;
            load.most.fetch_max(now, Ordering::SeqCst);
            let in_session = {
                let mut by_session = load.by_session.lock().unwrap();
                let count = by_session.entry(session.clone()).or_default();
                *count += 1;
                *count
            };
            assert_eq!(in_session, 1, "two handlers at once in {session}");
            tokio::time::sleep(Duration::from_secs(1)).await;
            load.now.fetch_sub(1, Ordering::SeqCst);
            load.by_session.lock().unwrap().insert(session, 0);
            Ok(())
        });
        order.to_owned()
    }
}

/// SUB-29: 8 sessions are worked on at a time, or as many as configured; each handles one message
/// at a time, in order.
#[tokio::test(start_paused = true)]
async fn sessions_run_side_by_side_and_messages_of_one_in_order() {
    for (configured, most) in [(None, 8), (Some(1), 1), (Some(3), 3), (Some(40), 20)] {
        let world = World::new().await;
        let load = Load::default();
        let mut orders = Vec::new();
        for number in 0..3 {
            for name in 0..20 {
                let (name, order) = (format!("s-{name}"), format!("{name}/{number}"));
                orders.push(load.place(&world, &name, &order));
                world.place_in(&name, &order).await;
            }
        }
        let report = world
            .run_with(|builder| match configured {
                None => builder,
                Some(sessions) => builder.concurrent_sessions(sessions),
            })
            .await;
        assert_eq!(load.0.most.load(Ordering::SeqCst), most);
        assert_eq!((report.handled, report.failed), (60, 0));
        let done = world.script.done();
        for name in 0..20 {
            let prefix = format!("{name}/");
            let of_session: Vec<_> = done.iter().filter(|o| o.starts_with(&prefix)).collect();
            assert_eq!(
                of_session,
                [
                    &format!("{name}/0"),
                    &format!("{name}/1"),
                    &format!("{name}/2")
                ]
            );
        }
        world.assert_idle();
    }
}

/// SUB-29: nothing is fetched ahead: while all places are taken, neither the next message of a
/// session nor another session is touched, so that a crash costs them no delivery.
#[tokio::test(start_paused = true)]
async fn nothing_is_fetched_ahead() {
    let world = World::new().await;
    world.script.next("a", async |_| {
        tokio::time::sleep(Duration::from_secs(20)).await;
        Ok(())
    });
    world.place_in("1", "a").await;
    let running = world.start_with(|builder| builder.concurrent_sessions(1));
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.place_in("1", "b").await;
    world.place_in("2", "c").await;
    tokio::time::sleep(Duration::from_secs(10)).await;
    let deliveries = world.broker.messages(ENDPOINT);
    let deliveries = deliveries.iter().map(|message| message.delivery_count);
    assert_eq!(deliveries.collect::<Vec<_>>(), [1, 0, 0]);
    running.stop().await;
}

/// SUB-29: the lock is renewed for as long as a handler runs.
#[tokio::test(start_paused = true)]
async fn a_long_handler_keeps_its_lock() {
    let world = World::new().await;
    let calls = Calls::count(&world);
    world.script.next("a", async |_| {
        tokio::time::sleep(Duration::from_secs(300)).await;
        Ok(())
    });
    world.place("a").await;
    // A second receiver would take the session as soon as its lock ends.
    let other = world.start();
    let report = world.run().await;
    let other = other.stop().await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!(report.handled + other.handled, 1);
    assert_eq!(world.lines(), ["ResolutionResponse a"]);
    let renewals = calls.of(BrokerOperation::Renew);
    assert!(
        (25..=35).contains(&renewals),
        "{renewals} renewals of a 30 s lock in 300 s"
    );
    world.assert_idle();
}

/// SUB-29: many messages, each much shorter than the lock, outlast it together without losing it.
#[tokio::test(start_paused = true)]
async fn many_short_messages_keep_their_lock() {
    let world = World::new().await;
    let orders: Vec<_> = (0..20).map(|number| format!("order-{number}")).collect();
    for order in &orders {
        world.script.next(order, async |_| {
            tokio::time::sleep(Duration::from_secs(9)).await;
            Ok(())
        });
        world.place(order).await;
    }
    let report = world.run().await;
    assert_eq!(world.script.begun(), orders);
    assert_eq!((report.received, report.left), (20, 0));
    world.assert_idle();
}

/// SUB-29: a renewal that fails now and then is tried again before the lock ends.
#[tokio::test(start_paused = true)]
async fn failing_renewals_are_tried_again() {
    let world = World::new().await;
    world
        .broker
        .add_hook(Disturb::calls(BrokerOperation::Renew).first(5));
    world.script.next("a", async |_| {
        tokio::time::sleep(Duration::from_secs(100)).await;
        Ok(())
    });
    world.place("a").await;
    let report = world.run().await;
    assert_eq!(world.script.begun(), ["a"]);
    assert_eq!((report.received, report.handled), (1, 1));
}

/// SUB-29: when the lock is lost, the handler is dropped, so that it does not run beside that of
/// the next receiver: nothing is recorded or reported, and the message is handled again. That
/// holds for a lock that is taken away, for one that can't be renewed, and for a renewal that
/// gets no answer.
#[tokio::test(start_paused = true)]
async fn a_lost_lock_drops_the_handler() {
    for way in ["taken away", "renewals fail", "renewals hang"] {
        let world = World::new().await;
        let never = CancellationToken::new();
        match way {
            "renewals fail" => world
                .broker
                .add_hook(Disturb::calls(BrokerOperation::Renew)),
            "renewals hang" => {
                world
                    .broker
                    .add_hook(Disturb::calls(BrokerOperation::Renew).hold(&never));
            }
            _ => {}
        }
        let dropped = Arc::new(AtomicUsize::new(0));
        let counted = CountOnDrop(Arc::clone(&dropped));
        world.script.next("a", async move |_| {
            let _counted = counted;
            tokio::time::sleep(Duration::from_secs(600)).await;
            Err(HandlerError::new("came back beside its successor"))
        });
        world.place("a").await;
        let first = world.start();
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!(world.script.begun(), ["a"], "{way}");
        if way == "taken away" {
            world.broker.expire_lock(ENDPOINT, &session("s"));
        }
        tokio::time::sleep(Duration::from_secs(11)).await;
        assert_eq!(dropped.load(Ordering::SeqCst), 1, "{way}");
        world.broker.clear_hooks();
        world.settle().await;
        let report = first.stop().await;
        assert_eq!(world.script.begun(), ["a", "a"], "{way}");
        assert_eq!(world.lines(), ["ResolutionResponse a"], "{way}");
        assert_eq!(
            (report.left, report.failed, report.handled),
            (1, 0, 1),
            "{way}"
        );
        world.assert_idle();
    }
}

struct CountOnDrop(Arc<AtomicUsize>);

impl Drop for CountOnDrop {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// SUB-08: a receiver whose lock expired after its handler had returned finds its next state write
/// in conflict with its successor's fence and stops there: it neither blocks the session by an
/// event that was completed since, nor schedules a retry, nor settles.
#[tokio::test(start_paused = true)]
async fn a_stale_receiver_stops_at_its_first_write() {
    let world = World::new().await;
    world.script.fail("a", 1);
    world.place("a").await;
    let stale = world.process();
    let until = CancellationToken::new();
    let hold = Disturb::calls(BrokerOperation::WriteState).of(stale.transport.process());
    world.broker.add_hook(hold.hold(&until));
    let journal = Journal::keep(&world, &stale);
    // With one session at a time it can't take over from itself.
    let builder = stale.builder(&world).retry(policy());
    let first = stale.start(builder.concurrent_sessions(1));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.lines(), ["ErrorResponse a"]);

    world.broker.expire_lock(ENDPOINT, &session("s"));
    let second = world.start_with(|builder| builder.retry(policy()));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.script.done(), ["a"]);
    until.cancel();
    world.settle().await;
    let report = first.stop().await;
    second.stop().await;

    assert_eq!(world.state(), SessionState::default());
    assert_eq!(world.lines(), ["ErrorResponse a", "ResolutionResponse a"]);
    let tail = journal.since("send ErrorResponse");
    // The write is noted as it was answered, with a conflict.
    assert_eq!(tail[..2], ["send ErrorResponse", "write state"]);
    assert!(
        !tail.iter().any(|note| note.starts_with("schedule")),
        "{tail:?}"
    );
    assert_eq!((report.left, report.retries_scheduled), (1, 0));
    world.assert_idle();
}

/// SUB-08, SUB-35: so does a stale receiver that parks, drains, or unblocks; whatever it holds back
/// is done by its successor, once and in order.
#[tokio::test(start_paused = true)]
async fn a_stale_receiver_changes_no_session() {
    for atomic in [true, false] {
        for operation in [
            BrokerOperation::Park,
            BrokerOperation::Unpark,
            BrokerOperation::WriteState,
        ] {
            let options = BrokerOptions::default();
            let world = World::with(if atomic {
                options
            } else {
                options.without_atomic_sessions()
            })
            .await;
            world.script.fail("a", 1);
            for order in ["a", "b", "c"] {
                world.place(order).await;
            }
            let stale = world.process();
            let until = CancellationToken::new();
            // Of the state writes, the one that unblocks.
            let held = Disturb::calls(operation).of(stale.transport.process());
            let skipped = u64::from(operation == BrokerOperation::WriteState);
            world.broker.add_hook(held.after(skipped).hold(&until));
            let builder = stale.builder(&world).retry(policy());
            let first = stale.start(builder.concurrent_sessions(1));
            tokio::time::sleep(Duration::from_secs(20)).await;
            world.broker.expire_locks_of(stale.transport.process());
            let second = world.start_with(|builder| builder.retry(policy()));
            tokio::time::sleep(Duration::from_secs(20)).await;
            until.cancel();
            world.settle().await;
            first.stop().await;
            second.stop().await;

            let context = format!("{operation:?}, atomic {atomic}: {:?}", world.lines());
            assert_eq!(world.script.done(), ["a", "b", "c"], "{context}");
            let state = world.state();
            assert!(!state.is_blocked() && !state.has_deferred(), "{context}");
            world.assert_idle();
        }
    }
}

/// SUB-08: the fence comes before the first read of the state, once per lane.
#[tokio::test(start_paused = true)]
async fn a_lane_is_fenced_once() {
    let world = World::new().await;
    let calls = Calls::count(&world);
    for order in ["a", "b", "c"] {
        world.place(order).await;
    }
    world.run().await;
    assert_eq!(calls.of(BrokerOperation::Fence), 1);
    assert_eq!(calls.of(BrokerOperation::ReadState), 0);
}

/// SUB-08: after a write whose answer was lost nothing is assumed: the lane is given back and the
/// next one reads anew.
#[tokio::test(start_paused = true)]
async fn a_write_whose_answer_is_lost_ends_the_lane() {
    let world = World::new().await;
    let lost = Disturb::calls(BrokerOperation::WriteState).first(1);
    world.broker.add_hook(lost.at(BrokerPoint::After));
    world.script.fail("a", 1);
    world.place("a").await;
    world.place("b").await;
    world.run_with(|builder| builder.retry(policy())).await;
    assert_eq!(world.script.begun(), ["a", "a", "b"]);
    assert_eq!(world.script.done(), ["a", "b"]);
    world.assert_idle();
}

/// SUB-29: a session that is idle is given back at once while others wait for its place.
#[tokio::test(start_paused = true)]
async fn idle_sessions_keep_no_others_waiting() {
    let world = World::new().await;
    for number in 0..100 {
        let session = format!("session-{number}");
        world.place_in(&session, &format!("order-{number}")).await;
    }
    let running = world.start_with(|builder| {
        builder
            .concurrent_sessions(2)
            .session_idle(Duration::from_secs(60))
    });
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(world.script.done().len(), 100);
    running.stop().await;
    world.assert_idle();
}
