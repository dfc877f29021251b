//! CloudEvents of a foreign producer on the embedded queue, with the inbox in SQLite.

use nimbus_inbox_core::InboxSetup;
use nimbus_inbox_sqlite::SqliteInbox;
use nimbus_messaging::{Address, Envelope, Headers, Transport};
use nimbus_subscriber::{
    CloudEventMapping, ContentMode, EventTypeRule, HandlerContext, Subscriber,
};
use nimbus_tests::{ENDPOINT, Step};
use nimbus_transport_embedded::EmbeddedTransport;
use tokio::sync::mpsc;

/// A step as a CloudEvent that knows nothing of this broker: no message id and no session.
fn cloud_event(number: u32) -> Envelope {
    let body = format!(
        r#"{{"specversion":"1.0","id":"{number}","source":"/plan","type":"com.example.Step",
            "subject":"plan-1","data":{{"number":{number}}}}}"#
    );
    Envelope {
        content_type: Some("application/cloudevents+json".to_owned()),
        body: body.into(),
        ..Envelope::default()
    }
}

/// SUB-06: events without message id and session are handled once each, in the session that their
/// attributes name, on a durable queue.
#[tokio::test(flavor = "multi_thread")]
async fn foreign_events_are_handled_once_in_their_own_session() {
    let directory = tempfile::tempdir().unwrap();
    let transport = EmbeddedTransport::open(directory.path().join("queue.db"))
        .await
        .unwrap();
    transport.declare(ENDPOINT).await.unwrap();
    let sender = transport.sender(&Address::from(ENDPOINT)).await.unwrap();
    let inbox = || SqliteInbox::open(directory.path().join("inbox.db"));
    let (handled, mut seen) = mpsc::unbounded_channel();

    let mut received = Vec::new();
    for events in [vec![0], vec![0, 1], vec![1, 2]] {
        // The last of them is new, and comes after the others in its session.
        let last = *events.last().unwrap();
        for number in events {
            sender.send(vec![cloud_event(number)]).await.unwrap();
        }
        let subscriber = Subscriber::builder(ENDPOINT)
            .content_mode(ContentMode::CloudEvents)
            .cloud_event_mapping(
                CloudEventMapping::default()
                    .with_event_type(EventTypeRule::LastSegment)
                    .with_session_from(["subject"]),
            )
            .handle_with(
                handled.clone(),
                "Step",
                async |handled: mpsc::UnboundedSender<_>, step: Step, context: HandlerContext| {
                    let _ = handled.send((step.number, context.headers().clone()));
                    Ok(())
                },
            )
            .inbox(InboxSetup::new(inbox().await.unwrap()))
            .build(transport.clone())
            .unwrap();
        let stop = async {
            while let Some((number, headers)) = seen.recv().await {
                received.push((number, headers));
                if number == last {
                    break;
                }
            }
        };
        subscriber.run(stop).await.unwrap();
    }

    let numbers: Vec<u32> = received.iter().map(|(number, _)| *number).collect();
    assert_eq!(numbers, [0, 1, 2]);
    let in_plan = |headers: &Headers| headers.session_id.as_deref() == Some("plan-1");
    assert!(received.iter().all(|(_, headers)| in_plan(headers)));
    let inspector = transport.inspector();
    assert!(
        inspector
            .dead_letters(ENDPOINT, 10)
            .await
            .unwrap()
            .is_empty()
    );
}
