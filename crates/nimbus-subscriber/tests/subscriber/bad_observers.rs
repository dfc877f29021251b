//! What an observer that misbehaves can't do.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use nimbus_subscriber::{
    HandlerError, LifecycleObserver, MessageCompleted, MessageDeadLettered, MessageFailed,
    MessageReceived, ObserverError, RetryPolicy, SessionBlocked,
};

use crate::observers::Noting;
use crate::support::{ENDPOINT, Logs, World};

/// How an observer misbehaves.
#[derive(Debug, Clone, Copy)]
enum Bad {
    Fails,
    Panics,
    Hangs,
}

impl Bad {
    async fn act(self) -> Result<(), ObserverError> {
        match self {
            Self::Fails => Err("a planned failure".into()),
            Self::Panics => panic!("a planned panic"),
            Self::Hangs => std::future::pending().await,
        }
    }
}

#[async_trait]
impl LifecycleObserver for Bad {
    async fn on_received(&self, _: &MessageReceived<'_>) -> Result<(), ObserverError> {
        self.act().await
    }

    async fn on_completed(&self, _: &MessageCompleted<'_>) -> Result<(), ObserverError> {
        self.act().await
    }

    async fn on_failed(&self, _: &MessageFailed<'_>) -> Result<(), ObserverError> {
        self.act().await
    }

    async fn on_dead_lettered(&self, _: &MessageDeadLettered<'_>) -> Result<(), ObserverError> {
        self.act().await
    }

    async fn on_session_blocked(&self, _: &SessionBlocked<'_>) -> Result<(), ObserverError> {
        self.act().await
    }
}

/// SUB-23, INB-10: an observer that fails, panics or hangs at every stage changes nothing, is warned
/// about, and keeps nothing from the next.
#[tokio::test(start_paused = true)]
async fn a_bad_observer_changes_nothing_at_any_stage() {
    for bad in [Bad::Fails, Bad::Panics, Bad::Hangs] {
        let logs = Logs::capture();
        let world = World::new().await;
        world.script.fail("a", 1);
        world
            .script
            .next("d", async |_| Err(HandlerError::dead_letter("no")));
        for order in ["a", "b"] {
            world.place(order).await;
        }
        world.place_in("other", "d").await;
        let (observer, notes) = Noting::new();
        let policy = RetryPolicy::fixed(Duration::from_secs(5));
        let report = world
            .run_with(|builder| builder.retry(policy).observer(bad).observer(observer))
            .await;
        assert_eq!((report.handled, report.dead_lettered), (2, 1), "{bad:?}");
        assert_eq!((report.abandoned, report.left), (0, 0), "{bad:?}");
        assert_eq!(world.script.done(), ["a", "b"], "{bad:?}");
        let notes = notes.lock().unwrap().len();
        assert_eq!(notes, 11, "{bad:?}");
        let warned = logs.lines("a lifecycle observer failed").len();
        match bad {
            Bad::Hangs => assert!((5..=notes).contains(&warned), "{warned}"),
            _ => assert_eq!(warned, notes),
        }
        assert_eq!(world.broker.messages(ENDPOINT), []);
    }
}

/// Hangs for as long as it is told to; implements one signal of many.
#[derive(Clone, Default)]
struct Hanging {
    calls: Arc<AtomicUsize>,
    answers: Arc<AtomicBool>,
}

#[async_trait]
impl LifecycleObserver for Hanging {
    async fn on_completed(&self, _: &MessageCompleted<'_>) -> Result<(), ObserverError> {
        self.calls.fetch_add(1, Ordering::SeqCst);
        if !self.answers.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
        Ok(())
    }
}

/// SUB-23, INB-10: an observer that hangs three times in a row at one kind of signal is left out of that
/// for a minute, and then tried once a minute, so that it does not hold up every message; when it answers
/// it hears everything again.
#[tokio::test(start_paused = true)]
async fn a_hanging_observer_is_left_out_for_a_while() {
    let logs = Logs::capture();
    let world = World::new().await;
    let observer = Hanging::default();
    let calls = || observer.calls.load(Ordering::SeqCst);
    let running = world.start_with(|builder| builder.observer(observer.clone()));
    let place = async |orders: std::ops::Range<u32>| {
        for order in orders {
            world.place(&format!("order-{order}")).await;
        }
        tokio::time::sleep(Duration::from_secs(30)).await;
    };
    place(0..50).await;
    assert_eq!((world.script.done().len(), calls()), (50, 3));
    place(50..60).await;
    assert_eq!((world.script.done().len(), calls()), (60, 3));
    // The minute is over: one call of ten.
    tokio::time::sleep(Duration::from_secs(30)).await;
    place(60..70).await;
    assert_eq!((world.script.done().len(), calls()), (70, 4));
    assert_eq!(logs.lines("it is not told of this signal for").len(), 2);

    observer.answers.store(true, Ordering::SeqCst);
    tokio::time::sleep(Duration::from_secs(60)).await;
    place(70..80).await;
    assert_eq!((world.script.done().len(), calls()), (80, 14));
    running.stop().await;
}
