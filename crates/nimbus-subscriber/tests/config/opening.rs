//! From a configuration to what runs.

use std::time::Duration;

use nimbus_messaging::{Address, EventRequest, Transport};
use nimbus_subscriber::{
    HandlerContext, HandlerError, Providers, RetryPolicy, Subscriber, SubscriberErrorKind,
};
use serde::{Deserialize, Serialize};

use crate::support::{Bench, LEAST};

#[derive(Serialize, Deserialize)]
struct OrderPlaced {
    number: u32,
}

async fn invoice(_: OrderPlaced, _: HandlerContext) -> Result<(), HandlerError> {
    Ok(())
}

/// INB-29, INB-30, SUB-32: a subscriber that a file configures handles, and deduplicates on the
/// inbox that the file selects.
#[tokio::test(start_paused = true)]
async fn a_configured_subscriber_runs() {
    let bench = Bench::new();
    let text =
        format!("drain_deadline = \"5s\"\n{LEAST}[inbox]\nstore = \"acme\"\nhost = \"db\"\n");
    std::fs::write(bench.path(), text).unwrap();
    let address = Address::from("BillingEndpoint");
    let sender = bench.broker.connect().sender(&address).await.unwrap();
    let order = EventRequest::new("OrderPlaced", &OrderPlaced { number: 1 })
        .unwrap()
        .with_message_id("m-1")
        .with_session("order-1")
        .to("BillingEndpoint");
    sender.send(vec![order.clone(), order]).await.unwrap();

    let report = Subscriber::from_config(bench.path(), &bench.providers)
        .await
        .unwrap()
        .handle("OrderPlaced", invoice)
        .build_configured()
        .unwrap()
        .run(tokio::time::sleep(Duration::from_secs(5)))
        .await
        .unwrap();
    assert_eq!((report.handled, report.duplicates), (1, 1));
    assert_eq!(bench.opened.count(), 1);
}

/// INB-29, SUB-32: without the section there is no inbox, and nothing is opened for one.
#[tokio::test]
async fn an_inbox_is_opted_in_to() {
    let bench = Bench::new();
    let configuration = bench.load(LEAST).unwrap();
    assert!(configuration.open_inbox().await.unwrap().is_none());
    assert!(configuration.open_session_store().await.unwrap().is_none());
    let transport = configuration.open_transport().await.unwrap();
    assert!(transport.capabilities().session_store);

    let text = format!("{LEAST}[inbox]\nretention = \"1 day\"");
    let unselected = bench.load(&text).unwrap().open_inbox().await.unwrap_err();
    let expected = "the inbox is enabled but no store is selected; registered are: inmemory, acme";
    assert!(unselected.context().starts_with(expected), "{unselected}");
}

/// INB-30, SUB-32: what nobody registered is refused when it is opened, with what is registered and
/// the crate that provides it; its keys can't be judged. Everything that is missing is told at once.
#[tokio::test]
async fn a_provider_that_is_not_registered_is_refused() {
    let bench = Bench::new();
    let text = r#"
        endpoint = "BillingEndpoint"
        [transport]
        name = "rabbitmq"
        vhost = "/"
        [inbox]
        store = "postgres"
        host = "db"
        [session_store]
        store = "sqlit"
    "#;
    let variables = [("NIMBUS__INBOX__ROLE", "billing")];
    let configuration = bench.load_with(text, &variables).unwrap();
    let transport = configuration
        .open_transport()
        .await
        .unwrap_err()
        .to_string();
    let expected = "the transport `rabbitmq` is selected but was not registered: the crate \
                    nimbus-transport-rabbitmq provides it; registered are: inmemory, poor";
    assert!(transport.starts_with(expected), "{transport}");
    let inbox = configuration.open_inbox().await.unwrap_err();
    let expected = "the inbox store `postgres` is selected but was not registered: the crate \
                    nimbus-inbox-postgres provides it; registered are: inmemory, acme";
    assert!(inbox.context().starts_with(expected), "{inbox}");
    let sessions = configuration
        .open_session_store()
        .await
        .unwrap_err()
        .to_string();
    let expected = "the session store `sqlit` is selected but was not registered: it is no \
                    provider of this project, so check its name; nothing is registered";
    assert!(sessions.starts_with(expected), "{sessions}");

    let error = configuration.subscriber().await.unwrap_err();
    assert_eq!(error.kind(), SubscriberErrorKind::Configuration);
    assert_eq!(error.problems().len(), 3, "{error}");
    // Beside other problems they are told as well.
    let wrong = text.replace("endpoint =", "endpont =");
    assert_eq!(bench.problems(&wrong, &[]).len(), 5);
}

/// INB-30, SUB-32: a name that stands for two things is refused, whichever came first; so is a
/// section that is the subscriber's.
#[test]
fn a_name_is_registered_once() {
    let mut bench = Bench::new();
    let providers = std::mem::take(&mut bench.providers);
    let other = Bench::new();
    bench.providers = providers
        .transport("InMemory", {
            let broker = other.broker.clone();
            move |_: crate::support::NoKeys| std::future::ready(Ok(broker.connect()))
        })
        .inbox("acme", {
            let inbox = other.inbox.clone();
            move |_: crate::support::NoKeys| std::future::ready(Ok(inbox.clone()))
        })
        .section::<crate::support::NoKeys>("resolver")
        .section::<crate::support::NoKeys>("retry");
    assert_eq!(
        bench.problems(LEAST, &[]),
        [
            "the inbox store `acme` is registered twice; register it once",
            "the section [retry] is the subscriber's own; choose another name",
            "the section `resolver` is registered twice; register it once",
            "the transport `InMemory` is registered twice; register it once",
        ]
    );
    assert!(
        Providers::new()
            .settings()
            .iter()
            .all(|setting| setting.provider.is_none())
    );
}

/// SUB-32: what the file says and what the program says are checked together.
#[tokio::test]
async fn the_program_can_not_contradict_the_file() {
    let bench = Bench::new();
    let text = format!("{LEAST}[retry.default]\ndelay = \"5s\"\n[inbox]\nstore = \"InMemory\"");
    let configuration = bench.load(&text).unwrap();
    let policy = RetryPolicy::fixed(Duration::from_secs(1));
    let builder = configuration.subscriber().await.unwrap().retry(policy);
    let error = builder
        .build(bench.broker.connect())
        .unwrap_err()
        .to_string();
    for problem in [
        "it has no handler",
        "the default retry policy is set twice",
        "the configuration opened a transport and another was passed",
    ] {
        assert!(error.contains(problem), "{problem}: {error}");
    }
    let error = Subscriber::builder("BillingEndpoint")
        .build_configured()
        .unwrap_err();
    assert!(
        error
            .to_string()
            .contains("no configuration opened a transport"),
        "{error}"
    );

    // A transport without session state needs a store for it.
    let poor = bench.load(&LEAST.replace("inmemory", "poor")).unwrap();
    let builder = poor
        .subscriber()
        .await
        .unwrap()
        .handle("OrderPlaced", invoice);
    let error = builder.build_configured().unwrap_err().to_string();
    assert!(error.contains("keeps no session state"), "{error}");
}

/// SUB-32, SUB-20, SUB-23: what file or environment say about an event type that no handler takes is
/// told when the subscriber is built: a variable in capitals would have no effect.
#[tokio::test]
async fn what_is_said_about_an_event_type_without_a_handler_is_told() {
    let bench = Bench::new();
    let text = format!(
        r#"{LEAST}
        [timeout]
        default = "30s"
        events = {{ OrderPlaced = "2 min", OrderPlacd = "2 min" }}
        [retry.events.OrderPlaced]
        delay = "5s"
        [[retry.rules]]
        error_contains = "timeout"
        event_type = "OrderPayed"
        policy = {{ delay = "1s" }}
        "#
    );
    let capitals = [("NIMBUS__RETRY__EVENTS__ORDERPLACED__DELAY", "7s")];
    let configuration = bench.load_with(&text, &capitals).unwrap();
    let builder = configuration.subscriber().await.unwrap();
    let error = builder
        .handle("OrderPlaced", invoice)
        .build_configured()
        .unwrap_err();
    assert_eq!(
        error.problems(),
        [
            "there is a limit for events of type \"OrderPlacd\", and no handler",
            "there is a retry policy for events of type \"ORDERPLACED\", and no handler",
            "there is a retry policy for events of type \"OrderPayed\", and no handler",
        ]
    );
}
