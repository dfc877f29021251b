//! Who holds a lane, until when, and what is refused after that.

use std::time::Duration;

use nimbus_messaging::{Settlement, StateVersion, Transport};

use crate::support::*;

const BEFORE_EXPIRY: Duration = Duration::from_secs(29);

/// SUB-08: after a crash the session comes back once the lock has expired, to another process too,
/// and in its order.
#[tokio::test]
async fn a_dropped_lane_comes_back_when_its_lock_expired() {
    let machine = Machine::new();
    let (crashing, other) = (machine.process().await, machine.process().await);
    send(&crashing, &[("s", "1"), ("s", "2"), ("t", "later")]).await;

    let mut lane = accept(&crashing).await;
    let delivery = receive(&mut lane).await.expect("sent");
    drop((delivery, lane));
    drop(crashing);

    machine.clock.advance(BEFORE_EXPIRY);
    let mut next = accept(&other).await;
    assert_eq!(receive_id(&mut next).await.as_deref(), Some("later"));

    machine.clock.advance(LOCK);
    let mut lane = accept(&other).await;
    let again = receive(&mut lane).await.expect("not settled");
    assert_eq!((id(&again).as_str(), again.delivery_count), ("1", 2));
    again.receipt.complete().await.expect("locked");
    assert_eq!(complete_all(&mut lane).await, ["2"]);
}

/// SUB-08, SUB-38: once the lock has expired nothing succeeds any more, whether or not somebody
/// took the lane.
#[tokio::test]
async fn everything_is_refused_after_the_lock_expired() {
    for somebody_took_it in [false, true] {
        let machine = Machine::new();
        let transport = machine.process().await;
        send(&transport, &[("s", "1"), ("s", "2")]).await;
        let mut lane = accept(&transport).await;
        let delivery = receive(&mut lane).await.expect("sent");
        let store = lane.sessions().expect("it has one");
        let fenced = store.fence(&session("s")).await.expect("locked");

        machine.clock.advance(LOCK);
        let mut successor = None;
        if somebody_took_it {
            let mut lane = accept(&transport).await;
            let delivery = receive(&mut lane).await.expect("not settled");
            successor = Some((lane, delivery));
        }
        assert_lock_lost(delivery.receipt.complete().await);
        assert_lock_lost(lane.receive(Duration::ZERO).await);
        assert_lock_lost(lane.receive_deferred(&session("s"), 1).await);
        assert_lock_lost(lane.lock().renew().await);
        let state = &fenced.state;
        assert_lock_lost(store.fence(&session("s")).await);
        assert_lock_lost(store.write(&session("s"), state, fenced.version).await);
        lane.lock().lost().cancelled().await;
        assert_lock_lost(lane.release().await);

        if let Some((lane, delivery)) = successor {
            delivery.receipt.complete().await.expect("its own lock");
            lane.release().await.expect("its own lock");
        }
    }
}

/// The token tells that the lock is lost without any call to the file.
#[tokio::test]
async fn the_lost_token_is_cancelled_at_expiry() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1")]).await;
    let lane = accept(&transport).await;
    let lost = lane.lock().lost();
    machine.clock.advance(BEFORE_EXPIRY);
    lane.lock().renew().await.expect("locked");
    machine.clock.advance(BEFORE_EXPIRY);
    lane.lock().renew().await.expect("renewed before");
    assert!(!lost.is_cancelled());
    machine.clock.advance(LOCK);
    lost.cancelled().await;
}

#[tokio::test]
async fn a_renewed_lock_holds() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("s", "2")]).await;
    let mut lane = accept(&transport).await;
    let delivery = receive(&mut lane).await.expect("sent");
    for _ in 0..3 {
        machine.clock.advance(BEFORE_EXPIRY);
        lane.lock().renew().await.expect("locked");
    }
    delivery.receipt.complete().await.expect("locked");
    assert_eq!(complete_all(&mut lane).await, ["2"]);
}

/// A renewal whose caller is gone still counts: the lock isn't given up early.
#[tokio::test]
async fn a_renewal_that_is_dropped_counts_all_the_same() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("s", "2")]).await;
    let mut lane = accept(&transport).await;
    let lock = lane.lock();
    machine.clock.advance(BEFORE_EXPIRY);
    let mut renewal = lock.renew();
    assert!(
        renewal
            .as_mut()
            .poll(&mut std::task::Context::from_waker(std::task::Waker::noop()))
            .is_pending()
    );
    drop(renewal);
    // The renewal runs on, and what follows runs after it: the file has one writer.
    tokio::task::yield_now().await;
    let first = receive(&mut lane).await.expect("sent");
    first.receipt.complete().await.expect("locked");
    machine.clock.advance(BEFORE_EXPIRY);
    let second = receive(&mut lane).await.expect("locked by the renewal");
    second.receipt.complete().await.expect("still locked");
    assert!(!lock.lost().is_cancelled());
}

/// Two receivers never hold one session.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_processes_never_hold_one_session() {
    let machine = Machine::new();
    let (one, two) = (machine.process().await, machine.process().await);
    send(&one, &[("s", "1"), ("s", "2"), ("t", "3")]).await;
    let (a, b) = tokio::join!(accept(&one), accept(&two));
    let mut sessions = Vec::new();
    for mut lane in [a, b] {
        let delivery = receive(&mut lane).await.expect("sent");
        sessions.push(delivery.envelope.session_id.clone().expect("set"));
    }
    sessions.sort();
    assert_eq!(sessions, ["s", "t"]);
    let counts = one.inspector().queue("BillingEndpoint").await;
    assert_eq!(counts.expect("declared").locked_lanes, 2);
}

/// Releasing, and dropping a receipt, settle nothing: the message comes again at its place.
#[tokio::test]
async fn a_released_lane_delivers_again_in_order() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("s", "2")]).await;
    let mut lane = accept(&transport).await;
    let unsettled = receive(&mut lane).await.expect("sent");
    lane.release().await.expect("locked");
    assert_lock_lost(unsettled.receipt.complete().await);

    let mut lane = accept(&transport).await;
    let again = receive(&mut lane).await.expect("not settled");
    assert_eq!((id(&again).as_str(), again.delivery_count), ("1", 2));
    drop(again);
    assert_eq!(receive_id(&mut lane).await, None, "it is still unsettled");
}

/// SUB-10: abandoning holds the head of the line for the delay, also after a restart.
#[tokio::test]
async fn an_abandoned_message_holds_the_head_of_its_line() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("s", "2")]).await;
    let mut lane = accept(&transport).await;
    let delivery = receive(&mut lane).await.expect("sent");
    let delay = Duration::from_secs(10);
    delivery.receipt.abandon(delay).await.expect("locked");
    assert_eq!(receive_id(&mut lane).await, None);
    lane.release().await.expect("locked");
    drop(transport);

    let transport = machine.process().await;
    send(&transport, &[("t", "fence")]).await;
    let mut other = accept(&transport).await;
    assert_eq!(receive_id(&mut other).await.as_deref(), Some("fence"));
    machine.clock.advance(delay);
    let mut lane = accept(&transport).await;
    let again = receive(&mut lane).await.expect("due");
    assert_eq!((id(&again).as_str(), again.delivery_count), ("1", 2));
    again.receipt.abandon(Duration::ZERO).await.expect("locked");
    assert_eq!(complete_all(&mut lane).await, ["1", "2"]);
}

/// INB-14: settling goes on when nobody waits for it.
#[tokio::test]
async fn a_settlement_outlives_its_signal() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1"), ("s", "2")]).await;
    let mut lane = accept(&transport).await;
    let delivery = receive(&mut lane).await.expect("sent");
    drop(delivery.receipt.settle(Settlement::Complete));
    let next = lane.receive(Duration::MAX).await.expect("locked");
    assert_eq!(next.map(|next| id(&next)).as_deref(), Some("2"));
}

/// A state that was read under an earlier lock of the same process is not written.
#[tokio::test]
async fn another_sessions_lane_changes_nothing() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1")]).await;
    let store = accept(&transport).await.sessions().expect("it has one");
    assert_lock_lost(store.fence(&session("t")).await);
    let read = store.read(&session("t")).await.expect("reading is free");
    assert_eq!(read.version, StateVersion(0));
    assert!(transport.capabilities().session_store);
}
