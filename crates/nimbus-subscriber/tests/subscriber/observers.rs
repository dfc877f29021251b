//! What observers are told, when, and what a bad one can't do.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use nimbus_messaging::{Headers, MessageType};
use nimbus_subscriber::{
    DuplicateDetected, HandlerError, Handoff, LifecycleObserver, MessageCompleted,
    MessageDeadLettered, MessageFailed, MessageReceived, ObserverError, RetryPolicy,
    SessionBlocked,
};

use crate::support::{ENDPOINT, EVENT_TYPE, Journal, World, continuation, deferred, request};

/// Notes what it is told.
#[derive(Clone)]
pub(crate) struct Noting(Arc<dyn Fn(String) + Send + Sync>);

impl Noting {
    pub(crate) fn new() -> (Self, Arc<Mutex<Vec<String>>>) {
        let notes = Arc::new(Mutex::new(Vec::new()));
        let noting = Arc::clone(&notes);
        (
            Self(Arc::new(move |note| noting.lock().unwrap().push(note))),
            notes,
        )
    }

    fn note(&self, what: &str, headers: &Headers) -> Result<(), ObserverError> {
        let event = headers.event_id.as_ref().map_or("-", |id| id.as_str());
        (self.0)(format!("{what} {event}"));
        Ok(())
    }
}

#[async_trait]
impl LifecycleObserver for Noting {
    async fn on_received(&self, event: &MessageReceived<'_>) -> Result<(), ObserverError> {
        assert_eq!(event.endpoint.as_str(), ENDPOINT);
        let what = format!(
            "received {} {}",
            event.headers.message_type, event.delivery_count
        );
        self.note(&what, event.headers)
    }

    async fn on_completed(&self, event: &MessageCompleted<'_>) -> Result<(), ObserverError> {
        assert_eq!(event.endpoint.as_str(), ENDPOINT);
        self.note("completed", event.headers)
    }

    async fn on_failed(&self, event: &MessageFailed<'_>) -> Result<(), ObserverError> {
        assert_eq!(event.endpoint.as_str(), ENDPOINT);
        let what = format!(
            "failed {:?} {} {}",
            event.class, event.error_type, event.error_text
        );
        self.note(&what, event.headers)
    }

    async fn on_dead_lettered(&self, event: &MessageDeadLettered<'_>) -> Result<(), ObserverError> {
        assert_eq!(event.endpoint.as_str(), ENDPOINT);
        assert!(event.description.chars().count() <= 4_096);
        self.note(&format!("dead-lettered {}", event.reason), event.headers)
    }

    async fn on_session_blocked(&self, event: &SessionBlocked<'_>) -> Result<(), ObserverError> {
        assert_eq!(event.endpoint.as_str(), ENDPOINT);
        let what = format!("blocked {} {:?}", event.session_id.as_str(), event.cause);
        self.note(&what, event.headers)
    }

    async fn on_duplicate_detected(
        &self,
        event: &DuplicateDetected<'_>,
    ) -> Result<(), ObserverError> {
        assert_eq!(event.endpoint.as_str(), ENDPOINT);
        self.note("duplicate", event.headers)
    }
}

/// Runs a subscriber in this world and returns what its observer was told.
async fn told(world: &World) -> Vec<String> {
    let (observer, notes) = Noting::new();
    let policy = RetryPolicy::fixed(Duration::from_secs(5));
    world
        .run_with(|builder| builder.retry(policy).observer(observer))
        .await;
    let notes = notes.lock().unwrap();
    notes.clone()
}

/// SUB-23: the life of two events of a session: one fails and blocks it, the other waits behind it; a
/// replayed copy is not received once more. INB-09: the late redelivery is a duplicate.
#[tokio::test(start_paused = true)]
async fn every_stage_of_an_event_is_told() {
    let world = World::new().await;
    world.script.fail("a", 2);
    world.place("a").await;
    world.place("b").await;
    assert_eq!(
        told(&world).await,
        [
            "received EventRequest 1 a",
            "failed Retry HandlerError no stock a",
            "blocked s Failure a",
            "received EventRequest 1 b",
            "received RetryRequest 1 a",
            // It is blocked already.
            "failed Retry HandlerError no stock a",
            "received RetryRequest 1 a",
            "completed a",
            "received ProcessDeferredRequest 1 -",
            "completed b",
        ]
    );
    world.place("a").await;
    assert_eq!(
        told(&world).await,
        ["received EventRequest 1 a", "duplicate a"]
    );
}

/// SUB-23: an attempt that fails in another way is told with its class; what is dead-lettered is told
/// as such, also a message whose headers or body can't be read.
#[tokio::test(start_paused = true)]
async fn failures_and_dead_letters_are_told() {
    type Make = fn(&'static str) -> HandlerError;
    let cases: [(&str, Make, &[&str]); 3] = [
        (
            "a",
            |text| HandlerError::discard(text),
            &["failed Discard HandlerError no a"],
        ),
        (
            "b",
            |text| HandlerError::dead_letter(text),
            &[
                "failed DeadLetter HandlerError no b",
                "dead-lettered HandlerFailed b",
            ],
        ),
        (
            "c",
            |text| HandlerError::transient(text),
            &[
                "failed Transient HandlerError no c",
                "received EventRequest 2 c",
                "completed c",
            ],
        ),
    ];
    for (order, error, expected) in cases {
        let world = World::new().await;
        world.script.next(order, async move |_| Err(error("no")));
        world.place(order).await;
        let notes = told(&world).await;
        assert_eq!(notes[0], format!("received EventRequest 1 {order}"));
        assert_eq!(notes[1..], *expected);
    }

    let world = World::new().await;
    let mut no_body = World::event("d").to(ENDPOINT);
    no_body.body = Vec::new().into();
    world.publish(no_body).await;
    let mut bad_headers = World::event("e").to(ENDPOINT);
    bad_headers.properties.set("RetryCount", "many".to_owned());
    world.publish(bad_headers).await;
    let mut notes = told(&world).await;
    notes.sort();
    assert_eq!(
        notes,
        [
            "dead-lettered MalformedMessage d",
            "dead-lettered MalformedMessage e",
            "received EventRequest 1 d",
            "received EventRequest 1 e",
        ]
    );
}

/// SUB-23, SUB-18: a parked copy that blocks its session or is dead-lettered is told like a delivery.
#[tokio::test(start_paused = true)]
async fn what_becomes_of_parked_copies_is_told() {
    let world = World::new().await;
    world
        .script
        .next("a", async |_| Err(HandlerError::dead_letter("no")));
    world.script.fail("b", 1);
    world.script.next("c", async |context| {
        context.mark_pending_handoff(Handoff::default());
        Ok(())
    });
    for order in ["a", "b", "c"] {
        world.park(order).await;
    }
    world.request_drain().await;
    assert_eq!(
        told(&world).await,
        [
            "received ProcessDeferredRequest 1 -",
            "failed DeadLetter HandlerError no a",
            "dead-lettered HandlerFailed a",
            "failed Retry HandlerError no stock b",
            "blocked s Failure b",
            "received RetryRequest 1 b",
            "completed b",
            "received ProcessDeferredRequest 1 -",
            "blocked s Handoff c",
        ]
    );
}

/// SUB-23, SUB-14: a handoff blocks, whether it comes from an event, a retry or a resubmission; it is
/// not completed, and what an operator settles is no success of a handler.
#[tokio::test(start_paused = true)]
async fn a_handoff_is_told_as_a_block() {
    for (message_type, expected) in [
        (MessageType::EventRequest, "EventRequest"),
        (MessageType::RetryRequest, "RetryRequest"),
        (MessageType::ResubmissionRequest, "ResubmissionRequest"),
    ] {
        let world = World::new().await;
        world.script.next("a", async |context| {
            context.mark_pending_handoff(Handoff::default());
            Ok(())
        });
        match message_type {
            MessageType::EventRequest => world.place("a").await,
            MessageType::RetryRequest => {
                world.set_state(&World::blocked_by("a"));
                world.send(World::retry("a"), "a").await;
            }
            other => world.send(World::command(other, "a"), "a").await,
        }
        assert_eq!(
            told(&world).await,
            [
                format!("received {expected} 1 a"),
                "blocked s Handoff a".to_owned()
            ]
        );
        let done = World::command(MessageType::HandoffCompletedRequest, "a");
        world.send(done, "a").await;
        assert_eq!(told(&world).await, ["received HandoffCompletedRequest 1 a"]);
    }
}

/// SUB-23, SUB-17: a message that an older version deferred is received when it is fetched.
#[tokio::test(start_paused = true)]
async fn a_deferred_message_is_told_when_it_is_fetched() {
    let world = deferred(&["a"], nimbus_inbox_testing::BrokerOptions::default()).await;
    request(&world, continuation()).await;
    let notes = told(&world).await;
    assert_eq!(notes.len(), 3, "{notes:?}");
    assert!(notes[0].starts_with("received ContinuationRequest"));
    assert!(notes[1].starts_with("received EventRequest") && notes[1].ends_with('a'));
    assert_eq!(notes[2], "completed a");
}

/// SUB-23, INB-06: a success is told after its record and before its outcome; a block after the state
/// was written; a dead letter after the resolver, before the broker.
#[tokio::test(start_paused = true)]
async fn signals_have_their_place_among_the_effects() {
    let world = World::new().await;
    let process = world.process();
    let journal = Journal::keep(&world, &process);
    let noting = journal.clone();
    let observer = Noting(Arc::new(move |note| noting.note(&note)));
    world.script.fail("b", 1);
    world
        .script
        .next("c", async |_| Err(HandlerError::dead_letter("no")));
    for order in ["c", "a", "b"] {
        world.place(order).await;
    }
    let running = process.start(process.builder(&world).observer(observer));
    world.settle().await;
    running.stop().await;
    assert_eq!(
        journal.since("received EventRequest 1 c"),
        [
            "received EventRequest 1 c",
            "check",
            "fence",
            "failed DeadLetter HandlerError no c",
            "send ErrorResponse",
            "dead-lettered HandlerFailed c",
            "dead-letter",
            "received EventRequest 1 a",
            "check",
            "record",
            "completed a",
            "send ResolutionResponse",
            "complete",
            "received EventRequest 1 b",
            "check",
            "failed Retry HandlerError no stock b",
            "send ErrorResponse",
            "write state",
            "blocked s Failure b",
            "complete",
        ]
    );
}

/// SUB-23, SUB-38: a success is told once: when its outcome or its settlement fails, the redelivery is
/// a duplicate. A record that fails has not succeeded.
#[tokio::test(start_paused = true)]
async fn a_success_is_told_once() {
    use crate::support::Disturb;
    use nimbus_inbox_testing::{BrokerOperation, Fault, When};
    for failing in [BrokerOperation::Send, BrokerOperation::Complete] {
        let world = World::new().await;
        world.broker.add_hook(
            Disturb::calls(failing)
                .after(u64::from(failing == BrokerOperation::Send))
                .first(1),
        );
        world.place("a").await;
        let notes = told(&world).await;
        let ends: Vec<_> = notes
            .iter()
            .filter(|note| !note.starts_with("rec"))
            .collect();
        assert_eq!(ends, ["completed a", "duplicate a"], "{failing:?}");
    }
    let world = World::new().await;
    let process = world.process();
    process.store.inject(
        When::record().first(1),
        Fault::fail(|operation| nimbus_inbox_core::Error::transient(operation, "out")),
    );
    world.place("a").await;
    let (observer, notes) = Noting::new();
    let running = process.start(process.builder(&world).observer(observer));
    world.settle().await;
    running.stop().await;
    assert_eq!(
        *notes.lock().unwrap(),
        [
            "received EventRequest 1 a",
            "received EventRequest 2 a",
            "completed a"
        ]
    );
}

/// SUB-23, INB-09: of a payload nothing is in any signal.
#[tokio::test(start_paused = true)]
async fn signals_carry_no_payload() {
    #[derive(Clone, Default)]
    struct Showing(Arc<Mutex<String>>);
    impl Showing {
        fn show(&self, event: &impl std::fmt::Debug) -> Result<(), ObserverError> {
            self.0.lock().unwrap().push_str(&format!("{event:?}\n"));
            Ok(())
        }
    }
    #[async_trait]
    impl LifecycleObserver for Showing {
        async fn on_received(&self, event: &MessageReceived<'_>) -> Result<(), ObserverError> {
            self.show(event)
        }
        async fn on_failed(&self, event: &MessageFailed<'_>) -> Result<(), ObserverError> {
            self.show(event)
        }
        async fn on_completed(&self, event: &MessageCompleted<'_>) -> Result<(), ObserverError> {
            self.show(event)
        }
        async fn on_dead_lettered(
            &self,
            event: &MessageDeadLettered<'_>,
        ) -> Result<(), ObserverError> {
            self.show(event)
        }
        async fn on_session_blocked(
            &self,
            event: &SessionBlocked<'_>,
        ) -> Result<(), ObserverError> {
            self.show(event)
        }
    }
    let world = World::new().await;
    let showing = Showing::default();
    world.script.fail("payload", 1);
    let message = World::event("payload")
        .with_event_id("a")
        .with_message_id("m-a");
    world.publish(message.with_session("s").to(ENDPOINT)).await;
    let unreadable = serde_json::json!({ "order": ["payload"] });
    let unreadable = nimbus_messaging::EventRequest::new(EVENT_TYPE, &unreadable).unwrap();
    world
        .publish(unreadable.with_message_id("m-b").to(ENDPOINT))
        .await;
    let policy = RetryPolicy::fixed(Duration::from_secs(5));
    let observer = showing.clone();
    world
        .run_with(|builder| builder.retry(policy).observer(observer))
        .await;
    let shown = showing.0.lock().unwrap();
    assert_eq!(shown.lines().count(), 8, "{shown}");
    assert!(!shown.contains("payload"), "{shown}");
}
