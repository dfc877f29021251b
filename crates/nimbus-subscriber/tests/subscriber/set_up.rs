//! Building, registration, handlers and what they can do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use nimbus_inbox_core::{
    Error, InboxOptions, InboxSetup, InboxStoreKind, Operation, StoreRegistry,
};
use nimbus_inbox_testing::{BrokerOptions, CountingStore, InMemoryInbox};
use nimbus_messaging::{Headers, TransportCapabilities};
use nimbus_subscriber::{
    EventHandler, HandlerContext, HandlerError, RetryPolicy, Subscriber, SubscriberErrorKind,
};

use crate::support::{ENDPOINT, EVENT_TYPE, Logs, OrderPlaced, World};

async fn ignore(_: OrderPlaced, _: HandlerContext) -> Result<(), HandlerError> {
    Ok(())
}

/// INB-29: without the inbox nothing is deduplicated, recorded or cleaned up; every delivery runs.
#[tokio::test(start_paused = true)]
async fn the_inbox_is_opt_in() {
    let world = World::new().await;
    world.place("a").await;
    world.place("a").await;
    let process = world.process();
    let running = process.start(process.builder_without_inbox(&world));
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.done(), ["a", "a"]);
    assert_eq!(
        world.lines(),
        ["ResolutionResponse a", "ResolutionResponse a"]
    );
    assert_eq!(world.recorded(), [""; 0]);
    world.assert_idle();
}

/// INB-29, INB-35: with it, the store is verified once and cleaned up from time to time, with the
/// retention of this endpoint.
#[tokio::test(start_paused = true)]
async fn the_inbox_brings_its_cleanup() {
    let world = World::new().await;
    world.record("old").await;
    let store = CountingStore::new(world.inbox.clone());
    let hour = Duration::from_secs(60 * 60);
    let options = InboxOptions::default()
        .with_retention_period(2 * hour)
        .unwrap();
    let setup = InboxSetup::new(store.clone()).with_options(options);
    let process = world.process();
    let running = process.start(process.builder_without_inbox(&world).inbox(setup));
    for _ in 0..4 {
        world.settle().await;
    }
    running.stop().await;
    let counts = store.counts();
    assert_eq!(counts.verify.calls, 1);
    assert!((3..=5).contains(&counts.purge.calls), "{:?}", counts.purge);
    assert_eq!(world.recorded(), [""; 0]);
}

/// INB-30: an inbox that is configured twice, two handlers for one type (SUB-26), and whatever else
/// is wrong: the build fails, and names all of it at once.
#[tokio::test(start_paused = true)]
async fn every_problem_of_the_configuration_is_named_at_once() {
    let world = World::new().await;
    let inbox = || InboxSetup::new(InMemoryInbox::new());
    let policy = RetryPolicy::fixed(Duration::from_secs(1));
    let error = Subscriber::builder(" ")
        .handle(EVENT_TYPE, ignore)
        .handle(EVENT_TYPE, ignore)
        .handle("", ignore)
        .inbox(inbox())
        .inbox(inbox())
        .retry(policy.clone())
        .retry(policy.clone())
        .retry_event(EVENT_TYPE, policy.clone())
        .retry_event(EVENT_TYPE, policy)
        .concurrent_sessions(0)
        .session_idle(Duration::ZERO)
        .build(world.broker.connect())
        .unwrap_err();
    assert_eq!(error.kind(), SubscriberErrorKind::Configuration);
    let text = error.to_string();
    for problem in [
        "the endpoint's name is blank",
        "events of type \"OrderPlaced\" have two handlers",
        "a handler has no event type",
        "the inbox is configured twice",
        "the default retry policy is set twice",
        "the retry policy of \"OrderPlaced\" is set twice",
        "0 sessions",
        "no time at all",
    ] {
        assert!(
            error.problems().iter().any(|p| p.contains(problem)),
            "{problem}: {text}"
        );
        assert!(text.contains(problem), "{problem}: {text}");
    }
    assert_eq!(error.problems().len(), 8, "{text}");

    let error = Subscriber::builder(ENDPOINT)
        .build(world.broker.connect())
        .unwrap_err();
    assert!(error.to_string().contains("no handler"));
}

/// SUB-33: what a transport can't do is found at build time: session state needs a store, retries
/// need scheduling.
#[tokio::test(start_paused = true)]
async fn what_a_transport_can_not_do_is_found_at_build_time() {
    let capabilities = TransportCapabilities {
        session_store: false,
        scheduled_send: false,
        ..BrokerOptions::default().capabilities
    };
    let poor = World::with(BrokerOptions::default().with_capabilities(capabilities)).await;
    let builder = || Subscriber::builder(ENDPOINT).handle(EVENT_TYPE, ignore);
    let policy = RetryPolicy::fixed(Duration::from_secs(1));
    let error = builder()
        .retry(policy)
        .build(poor.broker.connect())
        .unwrap_err();
    assert_eq!(error.problems().len(), 2, "{error}");
    let rich = World::new().await;
    let superfluous = builder().session_store(rich.sessions());
    assert!(superfluous.build(rich.broker.connect()).is_err());

    // With a store of its own it keeps sessions in order all the same.
    let sessions = poor.sessions();
    poor.script.fail("a", 1);
    poor.place("a").await;
    poor.place("b").await;
    poor.run_with(|builder| builder.session_store(sessions))
        .await;
    assert!(poor.state().is_blocked_by(Some(&"a".into())));
    assert_eq!(poor.parked().len(), 1);
}

/// INB-30: a registered store is selected by name and opened when the subscriber starts; one that
/// was not registered is refused with what there is, and one that can't be opened ends the start.
#[tokio::test(start_paused = true)]
async fn a_registered_store_is_opened_at_the_start() {
    let world = World::new().await;
    let inbox = world.inbox.clone();
    let open = move || std::future::ready(Ok(inbox.clone()));
    let registry = StoreRegistry::new()
        .register(InboxStoreKind::InMemory, open)
        .unwrap();
    let refused = InboxSetup::select(&registry, InboxStoreKind::Postgres).unwrap_err();
    for part in ["inmemory", "nimbus-inbox-postgres"] {
        assert!(refused.to_string().contains(part), "{refused}");
    }

    world.place("a").await;
    world.place("a").await;
    let setup = InboxSetup::select(&registry, InboxStoreKind::InMemory).unwrap();
    let process = world.process();
    let running = process.start(process.builder_without_inbox(&world).inbox(setup));
    world.settle().await;
    running.stop().await;
    assert_eq!(world.lines(), ["ResolutionResponse a", "SkipResponse a"]);

    let closed = || {
        std::future::ready(Err::<InMemoryInbox, _>(Error::configuration(
            Operation::Open,
            "no such file",
        )))
    };
    let registry = StoreRegistry::new()
        .register(InboxStoreKind::Sqlite, closed)
        .unwrap();
    let setup = InboxSetup::select(&registry, InboxStoreKind::Sqlite).unwrap();
    let running = process.start(process.builder_without_inbox(&world).inbox(setup));
    let error = running.task.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), SubscriberErrorKind::Inbox);
}

/// INB-33: enabling the inbox fills in nothing: a redelivery of what succeeded before runs once
/// more, is recorded then, and is a duplicate from then on. INB-31: there is no subscriber that an
/// inbox is added to and can't reach: the builder that takes it makes the dispatcher.
#[tokio::test(start_paused = true)]
async fn enabling_the_inbox_fills_in_nothing() {
    let world = World::new().await;
    world.place("a").await;
    let process = world.process();
    let running = process.start(process.builder_without_inbox(&world));
    world.settle().await;
    running.stop().await;
    assert_eq!(world.recorded(), [""; 0]);

    world.place("a").await;
    world.run().await;
    assert_eq!(world.script.done(), ["a", "a"]);
    assert_eq!(world.recorded(), ["m-a"]);
    world.place("a").await;
    world.run().await;
    assert_eq!(world.script.done(), ["a", "a"]);
}

#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl EventHandler for Seen {
    type Event = OrderPlaced;

    async fn handle(
        &self,
        event: OrderPlaced,
        context: HandlerContext,
    ) -> Result<(), HandlerError> {
        self.note("trait", event, &context);
        Ok(())
    }
}

impl Seen {
    fn note(&self, form: &str, event: OrderPlaced, context: &HandlerContext) {
        let message = context.message_id().unwrap_or_default().to_owned();
        self.0
            .lock()
            .unwrap()
            .push(format!("{form} {} {message}", event.order));
    }
}

/// SUB-26: a handler is a trait, an async function, or one with state; each gets the event that its
/// type names.
#[tokio::test(start_paused = true)]
async fn handlers_come_in_three_forms() {
    let world = World::new().await;
    for event_type in ["ByTrait", "ByFunction", "WithState"] {
        let message = World::event(event_type);
        let message = message.with_headers(|h| h.event_type_id = Some(event_type.to_owned()));
        world.publish(message.to(ENDPOINT)).await;
    }
    let seen = Seen::default();
    let state = seen.clone();
    let by_trait = seen.clone();
    world
        .run_with(|builder| {
            builder
                .handler("ByTrait", by_trait)
                .handle("ByFunction", ignore)
                .handle_with(state, "WithState", async |state: Seen, event, context| {
                    state.note("state", event, &context);
                    Ok(())
                })
        })
        .await;
    let mut seen = seen.0.lock().unwrap().clone();
    seen.sort();
    assert_eq!(
        seen,
        ["state WithState m-WithState", "trait ByTrait m-ByTrait"]
    );
    assert_eq!(world.recorded().len(), 3);
    world.assert_idle();
}

/// SUB-26: the context gives identity and metadata; a retry and a replayed copy keep the id that the
/// event was first delivered with (INB-16).
#[tokio::test(start_paused = true)]
async fn the_context_knows_the_message() {
    let world = World::new().await;
    let broker = world.broker.clone();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&seen);
    let look = move |context: &HandlerContext| {
        let id = context.message_id().map(str::to_owned);
        noted
            .lock()
            .unwrap()
            .push((id, context.retry_count(), context.delivery_count()));
        assert_eq!(context.endpoint().as_str(), ENDPOINT);
        assert_eq!(context.event_id(), Some(&"a".into()));
        assert_eq!(context.session_id(), Some("s"));
        assert!(context.enqueued_at().is_none_or(|at| at <= broker.now()));
        assert!(!context.stopping().is_cancelled());
        assert_eq!(context.headers().correlation_id.as_deref(), Some("c-1"));
    };
    let look_again = look.clone();
    world.script.next("a", async move |context| {
        look(&context);
        Err(HandlerError::new("no stock"))
    });
    world.script.next("a", async move |context| {
        look_again(&context);
        Ok(())
    });
    let message = World::event("a").with_session("s");
    let message = message.with_headers(|h| h.correlation_id = Some("c-1".to_owned()));
    world.publish(message.to(ENDPOINT)).await;
    let policy = RetryPolicy::fixed(Duration::from_secs(5));
    world.run_with(|builder| builder.retry(policy)).await;
    let id = Some("m-a".to_owned());
    assert_eq!(*seen.lock().unwrap(), [(id.clone(), 0, 1), (id, 1, 1)]);
}

/// SUB-26, SUB-34: an event published from a handler keeps session, correlation and lineage, under
/// the id that the handler chose: a second run of the handler publishes the same.
#[tokio::test(start_paused = true)]
async fn an_event_published_from_a_handler_keeps_its_lineage() {
    let world = World::new().await;
    world.broker.declare("ShippingEndpoint");
    for fails in [true, false] {
        world.script.next("a", async move |context| {
            let event = OrderPlaced {
                order: "shipment".to_owned(),
            };
            let address = "ShippingEndpoint";
            context
                .publish(address, "ShipOrder", &event, "order-42:ship:1")
                .await?;
            if fails {
                Err(HandlerError::transient("once more"))
            } else {
                Ok(())
            }
        });
    }
    let message = World::event("a").with_session("s").with_headers(|headers| {
        headers.correlation_id = Some("c-1".to_owned());
        headers.trace.parent = Some("00-trace".to_owned());
    });
    world.publish(message.to(ENDPOINT)).await;
    world.run().await;
    let published = world.broker.envelopes("ShippingEndpoint");
    assert_eq!(published.len(), 2);
    assert_eq!(published[0], published[1]);
    let headers = Headers::read(&published[0]).unwrap();
    assert_eq!(headers.message_id.as_deref(), Some("order-42:ship:1"));
    assert_eq!(headers.event_id, Some("order-42:ship:1".into()));
    assert_eq!(headers.event_type_id.as_deref(), Some("ShipOrder"));
    assert_eq!(headers.session_id.as_deref(), Some("s"));
    assert_eq!(headers.correlation_id.as_deref(), Some("c-1"));
    assert_eq!(headers.parent_message_id.as_deref(), Some("m-a"));
    assert_eq!(headers.originating_message_id.as_deref(), Some("m-a"));
    assert_eq!(headers.from, Some(ENDPOINT.into()));
    assert_eq!(headers.trace.parent.as_deref(), Some("00-trace"));
}

/// SUB-04: an endpoint named like a well-known address would receive its own outcomes for ever.
/// SUB-29: more sessions than can be counted are refused as well.
#[tokio::test(start_paused = true)]
async fn names_and_numbers_that_can_not_serve_are_refused() {
    let world = World::new().await;
    for name in ["resolver", "MANAGER", "self", "Deferred"] {
        let error = Subscriber::builder(name)
            .handle(EVENT_TYPE, ignore)
            .concurrent_sessions(usize::MAX)
            .build(world.broker.connect())
            .unwrap_err();
        assert_eq!(error.problems().len(), 2, "{error}");
    }
}

/// INB-32: a retention that ends before the broker's last redelivery is warned about at the start,
/// and only then.
#[tokio::test(start_paused = true)]
async fn a_retention_shorter_than_the_redelivery_horizon_is_warned_about() {
    for (days, warnings) in [(30, 1), (1, 0)] {
        let logs = Logs::capture();
        let options = BrokerOptions::default().with_capabilities(TransportCapabilities {
            deferral: true,
            session_store: true,
            scheduled_send: true,
            cancel_scheduled: true,
            redelivery_horizon: Some(Duration::from_secs(days * 24 * 60 * 60)),
        });
        let world = World::with(options).await;
        world.run().await;
        let lines = logs.lines("the inbox forgets messages sooner");
        assert_eq!(lines.len(), warnings, "{days} days");
    }
}
