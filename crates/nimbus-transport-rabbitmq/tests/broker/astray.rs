use std::time::Duration;

use lapin::BasicProperties;
use lapin::options::BasicPublishOptions;
use lapin::types::{AMQPValue, FieldTable};
use nimbus_inbox_core::{Clock, SystemClock};
use nimbus_inbox_testing::ServiceTests;
use nimbus_messaging::{PropertyValue, SessionId};

use crate::server::{self, options};
use crate::support::{Ours, message, next};

pub(crate) fn add(tests: ServiceTests) -> ServiceTests {
    tests
        .test(
            "a_foreign_message_gets_behind_its_session",
            a_foreign_message_gets_behind_its_session,
        )
        .test(
            "a_message_that_is_not_due_climbs_the_ladder_again",
            a_message_that_is_not_due_climbs_the_ladder_again,
        )
        .test(
            "a_schedule_outlasts_its_sender",
            a_schedule_outlasts_its_sender,
        )
}

async fn publish(ours: &Ours, key: &str, headers: &[(&str, AMQPValue)]) {
    let (connection, channel) = server::stranger().await;
    let mut table = FieldTable::default();
    for (name, value) in headers {
        table.insert((*name).into(), value.clone());
    }
    let properties = BasicProperties::default()
        .with_message_id("foreign".into())
        .with_headers(table);
    let (exchange, options) = (ours.name(""), BasicPublishOptions::default());
    channel
        .basic_publish(exchange.into(), key.into(), options, b"{}", properties)
        .await
        .expect("a publish");
    connection.close(200, "OK".into()).await.expect("a close");
}

fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(value.into())
}

/// SUB-33: a session is in one partition, whatever key a foreign publisher took.
async fn a_foreign_message_gets_behind_its_session() {
    let ours = Ours::declared(options()).await;
    // Not where messages without a key go.
    let session = (0..).map(|number| format!("order-{number}")).find(|name| {
        let session = SessionId::new(name).expect("a name");
        ours.transport.partition_of(&session) != 0
    });
    let session = session.expect("there are several partitions");
    let sender = ours.sender().await;
    sender
        .send(vec![message("first", &session)])
        .await
        .expect("a send");
    let headers = [
        ("nimbus-session", text(&session)),
        ("EventTypeId", text("OrderPlaced")),
        ("x-request", AMQPValue::LongInt(7)),
    ];
    publish(&ours, "orders.placed", &headers).await;

    let mut lanes = ours.lanes().await;
    // The first lane may be the one in which the foreign message is sent on.
    let mut seen = Vec::new();
    while seen.len() < 2 {
        let lane = lanes.accept_next().await.expect("a lane");
        let mut lane = lane.expect("nobody stopped it");
        while let Some(delivery) = lane
            .receive(Duration::from_secs(1))
            .await
            .expect("a receive")
        {
            seen.push(delivery.envelope.clone());
            delivery.receipt.complete().await.expect("completing");
        }
        lane.release().await.expect("a release");
    }
    let ids: Vec<_> = seen
        .iter()
        .filter_map(|one| one.message_id.as_deref())
        .collect();
    assert_eq!(ids, ["first", "foreign"]);
    assert_eq!(seen[1].session_id.as_deref(), Some(&*session));
    let number = seen[1].properties.get("x-request");
    assert_eq!(number, Some(&PropertyValue::Integer(7)));
    assert_eq!(seen[1].properties.len(), 2, "{:?}", seen[1]);
}

/// SUB-33: what is due later than the ladder is long comes down early, and goes up again.
async fn a_message_that_is_not_due_climbs_the_ladder_again() {
    let ours = Ours::declared(options()).await;
    let due = SystemClock.now().saturating_add(Duration::from_secs(2));
    let headers = [
        ("nimbus-session", text("s")),
        ("nimbus-due", AMQPValue::LongLongInt(due.unix_ticks())),
    ];
    publish(&ours, "early", &headers).await;
    let mut lane = ours.accept().await;
    let received = lane.receive(Duration::ZERO).await.expect("a receive");
    if let Some(delivery) = received {
        assert!(SystemClock.now() >= due, "it came early: {delivery:?}");
        return delivery.receipt.complete().await.expect("completing");
    }
    lane.release().await.expect("a release");
    let mut lane = ours.accept().await;
    let delivery = next(&mut lane).await;
    assert!(SystemClock.now() >= due, "it came early");
    assert_eq!(delivery.envelope.message_id.as_deref(), Some("foreign"));
    delivery.receipt.complete().await.expect("completing");
}

/// SUB-33: the broker keeps it, not the process that asked.
async fn a_schedule_outlasts_its_sender() {
    let ours = Ours::declared(options()).await;
    let due = SystemClock
        .now()
        .saturating_add(Duration::from_millis(1_500));
    let sender = ours.sender().await;
    sender
        .schedule(message("later", "s"), due)
        .await
        .expect("a schedule");
    ours.transport.close().await;
    let mut lane = ours.accept().await;
    let delivery = next(&mut lane).await;
    assert!(SystemClock.now() >= due, "it came early");
    assert_eq!(delivery.envelope.message_id.as_deref(), Some("later"));
    delivery.receipt.complete().await.expect("completing");
}
