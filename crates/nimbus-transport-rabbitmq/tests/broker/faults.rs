use std::time::Duration;

use lapin::options::QueueDeleteOptions;
use lapin::uri::AMQPUri;
use nimbus_inbox_testing::{ProxyFault, ServiceTests};
use nimbus_messaging::{Settlement, Transport, TransportErrorKind};

use crate::server::{self, options};
use crate::support::{Ours, message, next, told};

/// The method frames that the proxy looks for.
const ACK: [u8; 4] = [0, 60, 0, 80];
const PUBLISH: [u8; 4] = [0, 60, 0, 40];

const PLANTED: &str = "hunter2-planted";

pub(crate) fn add(tests: ServiceTests) -> ServiceTests {
    tests
        .test(
            "a_lost_confirmation_is_no_success",
            a_lost_confirmation_is_no_success,
        )
        .test(
            "a_send_that_is_cut_off_is_transient",
            a_send_that_is_cut_off_is_transient,
        )
        .test(
            "a_settlement_that_is_cut_off_is_no_success",
            a_settlement_that_is_cut_off_is_no_success,
        )
        .test(
            "a_delivery_from_before_a_cut_has_lost_its_lock",
            a_delivery_from_before_a_cut_has_lost_its_lock,
        )
        .test(
            "a_queue_that_is_deleted_ends_its_lane",
            a_queue_that_is_deleted_ends_its_lane,
        )
        .test(
            "a_dead_letter_whose_receipt_is_cut_off_is_not_lost",
            a_dead_letter_whose_receipt_is_cut_off_is_not_lost,
        )
        .test(
            "a_planted_password_shows_nowhere",
            a_planted_password_shows_nowhere,
        )
        .test(
            "a_broker_that_is_not_there_is_asked_again_after_a_pause",
            a_broker_that_is_not_there_is_asked_again_after_a_pause,
        )
}

/// SUB-33: what was confirmed is there; what was not may be there as well.
async fn a_lost_confirmation_is_no_success() {
    let (ours, proxy) = Ours::behind_a_proxy().await;
    let sender = ours.sender().await;
    sender
        .send(vec![message("m-1", "s")])
        .await
        .expect("a send");
    proxy.lose_answer(ACK);
    let error = sender.send(vec![message("m-2", "s")]).await;
    assert_eq!(
        error.expect_err("no confirmation came").kind(),
        TransportErrorKind::Transient
    );
    sender
        .send(vec![message("m-3", "s")])
        .await
        .expect("a send after it");

    let mut lane = ours.accept().await;
    let mut arrived = Vec::new();
    while arrived.last().is_none_or(|id| id != "m-3") {
        let delivery = next(&mut lane).await;
        arrived.extend(delivery.envelope.message_id.clone());
        delivery.receipt.complete().await.expect("completing");
    }
    arrived.retain(|id| id != "m-2");
    assert_eq!(arrived, ["m-1", "m-3"]);
}

/// SUB-30, SUB-33
async fn a_send_that_is_cut_off_is_transient() {
    let (ours, proxy) = Ours::behind_a_proxy().await;
    let sender = ours.sender().await;
    sender
        .send(vec![message("m-1", "s")])
        .await
        .expect("a send");
    proxy.inject(PUBLISH, ProxyFault::RequestLost);
    let error = sender.send(vec![message("m-2", "s")]).await;
    assert_eq!(
        error.expect_err("it never arrived").kind(),
        TransportErrorKind::Transient
    );
    sender
        .send(vec![message("m-3", "s")])
        .await
        .expect("a send after it");
    let mut lane = ours.accept().await;
    for id in ["m-1", "m-3"] {
        let delivery = next(&mut lane).await;
        assert_eq!(delivery.envelope.message_id.as_deref(), Some(id));
        delivery.receipt.complete().await.expect("completing");
    }
}

/// SUB-38: an acknowledgement that never arrived is not taken for one that did.
async fn a_settlement_that_is_cut_off_is_no_success() {
    let (ours, proxy) = Ours::behind_a_proxy().await;
    let sender = ours.sender().await;
    sender
        .send(vec![message("m-1", "s")])
        .await
        .expect("a send");
    let mut lane = ours.accept().await;
    let delivery = next(&mut lane).await;
    proxy.inject(ACK, ProxyFault::RequestLost);
    delivery
        .receipt
        .complete()
        .await
        .expect_err("it never arrived");
    drop(lane);
    let mut lane = ours.accept().await;
    let again = next(&mut lane).await;
    assert_eq!(again.envelope.message_id.as_deref(), Some("m-1"));
    assert_eq!(again.delivery_count, 2);
    again.receipt.complete().await.expect("completing");
}

/// SUB-33, SUB-38
async fn a_delivery_from_before_a_cut_has_lost_its_lock() {
    let (ours, proxy) = Ours::behind_a_proxy().await;
    let sender = ours.sender().await;
    sender
        .send(vec![message("m-1", "s")])
        .await
        .expect("a send");
    let mut lane = ours.accept().await;
    let delivery = next(&mut lane).await;
    proxy.cut();
    let lost = lane.lock().lost();
    tokio::time::timeout(Duration::from_secs(10), lost.cancelled())
        .await
        .expect("the holder is told");
    let error = delivery
        .receipt
        .complete()
        .await
        .expect_err("it is not ours");
    assert_eq!(error.kind(), TransportErrorKind::LockLost);
    let mut lane = ours.accept().await;
    next(&mut lane)
        .await
        .receipt
        .complete()
        .await
        .expect("completing");
}

/// SUB-30: an operator may delete what is in use.
async fn a_queue_that_is_deleted_ends_its_lane() {
    let ours = Ours::declared(options().with_partitions(1)).await;
    let sender = ours.sender().await;
    sender
        .send(vec![message("m-1", "s")])
        .await
        .expect("a send");
    let mut lane = ours.accept().await;
    next(&mut lane)
        .await
        .receipt
        .complete()
        .await
        .expect("completing");
    let (_connection, channel) = server::stranger().await;
    let queue = ours.name(".0");
    let deleted = channel.queue_delete(queue.into(), QueueDeleteOptions::default());
    deleted.await.expect("a deletion");
    let error = lane.receive(Duration::from_secs(10)).await;
    assert_eq!(
        error.expect_err("the queue is gone").kind(),
        TransportErrorKind::LockLost
    );
    // Nothing is bound any more, so a message is returned.
    let error = sender.send(vec![message("m-2", "s")]).await;
    assert_eq!(
        error.expect_err("nobody receives").kind(),
        TransportErrorKind::Unroutable
    );
    ours.transport
        .verify(&ours.endpoint)
        .await
        .expect("declaring again");
    sender
        .send(vec![message("m-3", "s")])
        .await
        .expect("a send");
}

/// SUB-22: between the dead letter and the acknowledgement it may double, and is never lost.
async fn a_dead_letter_whose_receipt_is_cut_off_is_not_lost() {
    let (ours, proxy) = Ours::behind_a_proxy().await;
    let sender = ours.sender().await;
    sender
        .send(vec![message("m-1", "s")])
        .await
        .expect("a send");
    let mut lane = ours.accept().await;
    let delivery = next(&mut lane).await;
    proxy.inject(ACK, ProxyFault::RequestLost);
    let settlement = Settlement::DeadLetter {
        reason: "Malformed".to_owned(),
        description: "no body".to_owned(),
    };
    let cut_off = delivery.receipt.settle(settlement).await;
    cut_off.expect_err("the acknowledgement never arrived");
    let dead = server::dead_letters(&ours.endpoint).await;
    assert_eq!(dead[0].reason, "Malformed");
    drop(lane);
    let mut lane = ours.accept().await;
    next(&mut lane)
        .await
        .receipt
        .complete()
        .await
        .expect("completing");
}

/// SUB-32: neither errors nor `Debug` show what is secret.
async fn a_planted_password_shows_nowhere() {
    let mut uri: AMQPUri = server::address().parse().expect("it was tried out");
    uri.authority.userinfo.password = PLANTED.to_owned();
    let refused = Ours::named(server::open(&uri.to_string(), options()));
    let error = refused.transport.verify(&refused.endpoint).await;
    let error = error.expect_err("the password is wrong");
    assert_eq!(error.kind(), TransportErrorKind::Configuration, "{error}");
    assert!(!told(&error).contains(PLANTED), "{}", told(&error));
    assert!(!format!("{:?}", refused.transport).contains(PLANTED));

    uri.authority.port = 1;
    let absent = Ours::named(server::open(&uri.to_string(), options()));
    let error = absent.transport.verify(&absent.endpoint).await;
    let error = error.expect_err("nobody listens");
    assert_eq!(error.kind(), TransportErrorKind::Transient, "{error}");
    assert!(!told(&error).contains(PLANTED), "{}", told(&error));

    uri.authority = server::address()
        .parse::<AMQPUri>()
        .expect("an address")
        .authority;
    uri.vhost = "nimbus-no-such-vhost".to_owned();
    let elsewhere = Ours::named(server::open(&uri.to_string(), options()));
    let error = elsewhere.transport.verify(&elsewhere.endpoint).await;
    let error = error.expect_err("there is no such virtual host");
    assert_eq!(error.kind(), TransportErrorKind::Configuration, "{error}");
}

/// SUB-30: whoever asks again and again does not keep the network busy.
async fn a_broker_that_is_not_there_is_asked_again_after_a_pause() {
    let (ours, proxy) = Ours::behind_a_proxy().await;
    let sender = ours.sender().await;
    sender
        .send(vec![message("m-1", "s")])
        .await
        .expect("a send");
    let before = proxy.accepted();
    drop(proxy);
    let mut failures = 0;
    for _ in 0..200 {
        let error = sender.send(vec![message("m-2", "s")]).await;
        let error = error.expect_err("nobody listens");
        assert_eq!(error.kind(), TransportErrorKind::Transient, "{error}");
        failures += usize::from(told(&error).contains("a moment ago"));
    }
    assert!(
        before > 0 && failures > 150,
        "{failures} of 200 asked for a pause"
    );
}
