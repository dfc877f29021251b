//! Waiting for messages of this process and of others.

use std::sync::Arc;
use std::time::Duration;

use nimbus_messaging::LaneSource;

use crate::support::*;

/// What is sent while a receiver waits arrives, from this process and from another one.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_receiver_gets_what_is_sent() {
    let machine = Machine::new();
    let (receiver, other) = (machine.process().await, machine.process().await);
    for from in [&receiver, &other] {
        let (lane, ()) = tokio::join!(accept(&receiver), send(from, &[("s", "1")]));
        let mut lane = lane;
        assert_eq!(complete_all(&mut lane).await, ["1"]);
        let (next, ()) = tokio::join!(lane.receive(PATIENCE), send(from, &[("s", "2")]));
        let next = next.expect("locked").expect("sent");
        assert_eq!(id(&next), "2");
        next.receipt.complete().await.expect("locked");
        lane.release().await.expect("locked");
    }
}

/// This process wakes its own receivers; it doesn't wait for the next look at the file.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_send_wakes_the_receivers_of_its_process() {
    let machine = Machine::new();
    let never = Duration::from_secs(1_000_000);
    let transport = machine
        .process_with(machine.options().with_poll_interval(never))
        .await;
    for round in ["1", "2", "3"] {
        let waiting = tokio::spawn({
            let transport = transport.clone();
            async move { receive_id(&mut accept(&transport).await).await }
        });
        tokio::task::yield_now().await;
        send(&transport, &[(round, round)]).await;
        assert_eq!(waiting.await.expect("no panic").as_deref(), Some(round));
    }
}

/// SUB-29: stopping ends a pending acceptance, and every later one, even if there is work.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stopped_source_accepts_nothing() {
    let machine = Machine::new();
    let transport = machine.process().await;
    let mut source: Box<dyn LaneSource> = lanes(&transport).await;
    let stopper = source.stopper();
    let pending = tokio::spawn(async move {
        let accepted = source.accept_next().await.expect("the file answers");
        (source, accepted.is_none())
    });
    Arc::clone(&stopper).stop();
    stopper.stop();
    let (mut source, ended) = pending.await.expect("no panic");
    assert!(ended);
    send(&transport, &[("s", "1")]).await;
    assert!(source.accept_next().await.expect("stopped").is_none());
    // And holds nothing back.
    assert_eq!(
        receive_id(&mut accept(&transport).await).await.as_deref(),
        Some("1")
    );
}

/// A stop that comes while a lane is being locked gives the lane back.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_while_a_lane_is_locked_gives_it_back() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1")]).await;
    let stranger = nimbus_sqlite::rusqlite::Connection::open(machine.path()).expect("a file");
    let hold = stranger.execute_batch("begin immediate");
    hold.expect("nobody else writes");

    let mut source = lanes(&transport).await;
    let stopper = source.stopper();
    let pending = tokio::spawn(async move { source.accept_next().await });
    // Long enough for the acceptance to wait for the file. If not, it accepts nothing either.
    tokio::time::sleep(Duration::from_millis(50)).await;
    stopper.stop();
    stranger.execute_batch("rollback").expect("it was begun");
    let accepted = pending.await.expect("no panic").expect("the file answers");
    assert!(accepted.is_none());
    let counts = transport.inspector().queue("BillingEndpoint").await;
    assert_eq!(counts.expect("declared").locked_lanes, 0);
}

/// A delay ends while a receiver waits for it.
#[tokio::test]
async fn a_waiting_receiver_gets_what_becomes_due() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1")]).await;
    let mut lane = accept(&transport).await;
    let delivery = receive(&mut lane).await.expect("sent");
    let delay = Duration::from_secs(10);
    delivery.receipt.abandon(delay).await.expect("locked");
    let clock = machine.clock.clone();
    let (again, ()) = tokio::join!(lane.receive(PATIENCE), async {
        all_before_acted(&transport).await;
        clock.advance(delay);
    });
    assert_eq!(
        again.expect("locked").map(|again| again.delivery_count),
        Some(2)
    );
}

/// A lock ends while a receiver waits: it is told, instead of waiting for ever.
#[tokio::test]
async fn a_waiting_receiver_is_told_that_its_lock_ended() {
    let machine = Machine::new();
    let transport = machine.process().await;
    send(&transport, &[("s", "1")]).await;
    let mut lane = accept(&transport).await;
    assert_eq!(complete_all(&mut lane).await, ["1"]);
    let clock = machine.clock.clone();
    let (waited, ()) = tokio::join!(lane.receive(PATIENCE), async {
        all_before_acted(&transport).await;
        clock.advance(LOCK);
    });
    assert_lock_lost(waited);
}
