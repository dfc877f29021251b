//! A store that does not answer costs time, never a message.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nimbus_inbox_core::{
    Cutoff, EndpointId, Error, InboxKey, InboxSetup, InboxStore, Operation, PurgeLimit, Recorded,
    StoreCapabilities, Timestamp,
};
use nimbus_inbox_testing::{
    BrokerOperation, BrokerOptions, Fault, FaultyStore, QueuedMessage, When, key,
};
use nimbus_subscriber::RetryPolicy;

use crate::support::{Calls, ENDPOINT, Logs, World};

const SECRET: &str = "hunter2-is-planted";

fn outage(operation: Operation) -> Error {
    Error::transient(
        operation,
        format!("connection to host=db;User Id=sa;Password={SECRET}; failed"),
    )
    .with_source(std::io::Error::other(format!(
        "login with password={SECRET} refused"
    )))
}

fn faults() -> [(&'static str, Fault); 5] {
    [
        ("transient", Fault::fail(outage)),
        (
            "configuration",
            Fault::fail(|operation| Error::configuration(operation, format!("pwd={SECRET}"))),
        ),
        ("answer lost", Fault::fail(outage).after_effect()),
        ("panic", Fault::panic()),
        ("hang", Fault::hang()),
    ]
}

/// INB-11: a check that fails leaves the message for redelivery: no handler, no outcome, no
/// duplicate, nothing settled. What the provider said, a planted password with it, is nowhere but
/// in one log line without the password.
#[tokio::test(start_paused = true)]
async fn a_failed_check_abandons_the_message() {
    for (name, fault) in faults() {
        let logs = Logs::capture();
        let world = World::new().await;
        let process = world.process();
        process.store.inject(When::check(), fault);
        world.place("a").await;
        let running = process.start(process.builder(&world));
        tokio::time::sleep(Duration::from_secs(20)).await;
        assert_eq!(world.script.begun(), [""; 0], "{name}");
        assert_eq!(world.lines(), [""; 0], "{name}");
        assert_eq!(world.broker.messages(ENDPOINT).len(), 1, "{name}");
        process.store.heal();
        world.settle().await;
        let report = running.stop().await;

        assert_eq!(world.script.done(), ["a"], "{name}");
        assert_eq!(world.lines(), ["ResolutionResponse a"], "{name}");
        assert_eq!((report.failed, report.duplicates), (0, 0), "{name}");
        assert_eq!(report.abandoned, report.received - 1, "{name}");
        world.assert_idle();
        let logged = logs.lines("the inbox store failed a call").len()
            + logs.lines("the inbox store refused a call").len();
        // The trials that hold intake back are logged as well.
        let abandoned = usize::try_from(report.abandoned).expect("it is small");
        assert!(abandoned > 0 && logged >= abandoned, "{name}");
        assert_secret_nowhere(&world, &logs);
    }
}

/// INB-11: a record that fails abandons the message too, although its handler ran: nothing is
/// reported as done before it is on record. A store whose outcome is unknown is asked once more
/// first (INB-26).
#[tokio::test(start_paused = true)]
async fn a_failed_record_abandons_the_message() {
    for (name, fault) in faults() {
        let logs = Logs::capture();
        let world = World::new().await;
        let process = world.process();
        process.store.inject(When::record().first(1), fault);
        world.place("a").await;
        let running = process.start(process.builder(&world));
        world.settle().await;
        let report = running.stop().await;

        assert_eq!((report.abandoned, report.failed), (1, 0), "{name}");
        assert!(report.dead_lettered == 0 && report.left == 0, "{name}");
        let recorded_unseen = name == "answer lost";
        let lines = if recorded_unseen {
            ["SkipResponse a"]
        } else {
            ["ResolutionResponse a"]
        };
        assert_eq!(world.lines(), lines, "{name}");
        let runs = if recorded_unseen { 1 } else { 2 };
        assert_eq!(world.script.done().len(), runs, "{name}");
        assert_eq!(world.recorded(), ["m-a"], "{name}");
        world.assert_idle();
        assert_secret_nowhere(&world, &logs);
    }
}

/// INB-11: the same for a parked copy, whose drain is abandoned, and for a retry.
#[tokio::test(start_paused = true)]
async fn a_failed_record_of_a_stand_in_abandons_what_carries_it() {
    let world = World::new().await;
    let process = world.process();
    for id in ["m-a", "m-b"] {
        let first = When::record().with_key(&key(ENDPOINT, id)).nth(1);
        process.store.inject(first, Fault::fail(outage));
    }
    world.script.fail("a", 1);
    world.place("a").await;
    world.place("b").await;
    let policy = RetryPolicy::fixed(Duration::from_secs(5));
    let running = process.start(process.builder(&world).retry(policy));
    world.settle().await;
    let report = running.stop().await;
    // Once more each: the retry of a, and the copy of b in its drain.
    assert_eq!(world.script.done(), ["a", "a", "b", "b"]);
    assert_eq!(report.abandoned, 2);
    assert_eq!(
        world.lines(),
        [
            "ErrorResponse a",
            "DeferralResponse b",
            "ResolutionResponse a",
            "ResolutionResponse b"
        ]
    );
    world.assert_idle();
}

/// INB-11: a message that the broker gives up on in the end, and the resolver's texts, say nothing
/// of the provider either.
#[tokio::test(start_paused = true)]
async fn a_dead_letter_after_an_outage_says_nothing_of_the_provider() {
    let logs = Logs::capture();
    let world = World::new().await;
    let process = world.process();
    // It serves everything but this message, so intake is not held back for good.
    let this_message = When::check().with_key(&key(ENDPOINT, "m-a"));
    process.store.inject(this_message, Fault::fail(outage));
    world.place("a").await;
    let running = process.start(process.builder(&world));
    world.settle().await;
    running.stop().await;
    assert_eq!(world.broker.dead_letters(ENDPOINT).len(), 1);
    assert_secret_nowhere(&world, &logs);
}

fn assert_secret_nowhere(world: &World, logs: &Logs) {
    let dead = format!("{:?}", world.broker.dead_letters(ENDPOINT));
    let told = format!("{:?}", world.told());
    let waiting = format!("{:?}", world.broker.messages(ENDPOINT));
    let state = world
        .broker
        .session_json(ENDPOINT, &crate::support::session("s"));
    for text in [dead, told, waiting, state, logs.text()] {
        assert!(!text.contains(SECRET), "{text}");
    }
}

/// SUB-30: while the store is out nothing is received, so an outage of an hour costs each message
/// a delivery or two, and none is dead-lettered for it. SUB-31: readiness says why.
#[tokio::test(start_paused = true)]
async fn an_outage_of_the_store_pauses_intake() {
    let world = World::new().await;
    let process = world.process();
    let calls = Calls::count(&world);
    let running = process.start(process.builder(&world));
    world.settle().await;
    process.store.inject(When::any(), Fault::fail(outage));
    for number in 0..30 {
        let order = format!("order-{number}");
        world.place_in(&format!("session-{number}"), &order).await;
    }
    tokio::time::sleep(Duration::from_secs(60 * 60)).await;

    let ready = running.health.readiness();
    assert!(!ready.ok && ready.reason.contains("store"), "{ready:?}");
    assert!(running.health.liveness().ok);
    let waiting = world.broker.messages(ENDPOINT);
    assert_eq!(waiting.len(), 30);
    assert!(waiting.iter().all(|message| message.delivery_count <= 2));
    let burnt: u32 = waiting.iter().map(|message| message.delivery_count).sum();
    assert!(burnt <= 9, "{burnt} deliveries were spent on the outage");
    assert!(calls.of(BrokerOperation::Accept) < 100);
    assert_eq!(world.script.begun(), [""; 0]);

    process.store.heal();
    world.settle().await;
    assert!(running.health.readiness().ok);
    running.stop().await;
    assert_eq!(world.script.done().len(), 30);
    world.assert_idle();
}

/// SUB-30, SUB-31: a session that was being waited for when the store failed is given back without
/// taking a message, and does not pass for readiness.
#[tokio::test(start_paused = true)]
async fn a_session_that_comes_during_an_outage_is_given_back() {
    let world = World::new().await;
    let process = world.process();
    let running = process.start(process.builder(&world));
    tokio::time::sleep(Duration::from_secs(1)).await;
    process.store.inject(When::any(), Fault::fail(outage));
    world.place_in("1", "a").await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    world.place_in("2", "b").await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    let deliveries = |id: &str| {
        let waiting = world.broker.messages(ENDPOINT);
        let of_id = |m: &&QueuedMessage| m.envelope.message_id.as_deref() == Some(id);
        waiting.iter().find(of_id).map(|m| m.delivery_count)
    };
    assert_eq!((deliveries("m-a"), deliveries("m-b")), (Some(1), Some(0)));
    assert!(!running.health.readiness().ok);
    process.store.heal();
    world.settle().await;
    running.stop().await;
    world.assert_idle();
}

/// SUB-31: a store that is back makes an endpoint ready also where no message comes any more.
#[tokio::test(start_paused = true)]
async fn an_idle_endpoint_is_ready_again() {
    let once = BrokerOptions::default().with_delivery_limit(std::num::NonZeroU32::new(1));
    let world = World::with(once).await;
    let process = world.process();
    let running = process.start(process.builder(&world));
    tokio::time::sleep(Duration::from_secs(1)).await;
    process.store.inject(When::any(), Fault::fail(outage));
    world.place("a").await;
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(world.broker.dead_letters(ENDPOINT).len(), 1);
    assert!(!running.health.readiness().ok);
    process.store.heal();
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert!(running.health.readiness().ok);
    running.stop().await;
}

/// INB-14: intake that closes for an outage which another message meets interrupts neither the
/// handler that runs nor the record and the settlement behind it.
#[tokio::test(start_paused = true)]
async fn an_outage_interrupts_no_message_in_work() {
    for met_during in ["the handler", "the record"] {
        let world = World::new().await;
        let process = world.process();
        process
            .store
            .inject(When::record(), Fault::delay(Duration::from_secs(20)));
        world.script.next("a", async |_| {
            tokio::time::sleep(Duration::from_secs(20)).await;
            Ok(())
        });
        world.place_in("1", "a").await;
        let running = process.start(process.builder(&world));
        let wait = if met_during == "the handler" { 5 } else { 25 };
        tokio::time::sleep(Duration::from_secs(wait)).await;
        process.store.inject(When::check(), Fault::fail(outage));
        world.place_in("2", "b").await;
        tokio::time::sleep(Duration::from_secs(40)).await;
        assert!(!running.health.readiness().ok, "{met_during}");
        assert_eq!(world.script.begun(), ["a"], "{met_during}");
        assert_eq!(world.recorded(), ["m-a"], "{met_during}");
        assert_eq!(world.lines(), ["ResolutionResponse a"], "{met_during}");
        let waiting = world.broker.messages(ENDPOINT);
        assert_eq!(waiting.len(), 1, "{met_during}");
        process.store.heal();
        world.settle().await;
        running.stop().await;
        assert_eq!(world.script.begun(), ["a", "b"], "{met_during}");
        world.assert_idle();
    }
}

/// SUB-30: a stop ends the waiting for a store at once.
#[tokio::test(start_paused = true)]
async fn a_stop_ends_the_waiting_for_a_store() {
    let world = World::new().await;
    let process = world.process();
    let running = process.start(process.builder(&world));
    tokio::time::sleep(Duration::from_secs(1)).await;
    process.store.inject(When::any(), Fault::hang());
    world.place("a").await;
    world.settle().await;
    let before = tokio::time::Instant::now();
    running.stop().await;
    assert!(before.elapsed() < Duration::from_secs(1));
}

/// INB-32: a store that can't serve ends the start, with the reason and before anything is received.
#[tokio::test(start_paused = true)]
async fn a_store_that_can_not_serve_ends_the_start() {
    let world = World::new().await;
    let calls = Calls::count(&world);
    let process = world.process();
    process.store.inject(
        When::verify(),
        Fault::fail(|operation| Error::configuration(operation, "table Inbox is missing")),
    );
    world.place("a").await;
    let running = process.start(process.builder(&world));
    let health = running.health.clone();
    let error = running.task.await.unwrap().unwrap_err();
    assert_eq!(error.kind(), nimbus_subscriber::SubscriberErrorKind::Inbox);
    let source = std::error::Error::source(&error).map(ToString::to_string);
    assert!(
        source
            .unwrap_or_default()
            .contains("table Inbox is missing")
    );
    assert_eq!(calls.of(BrokerOperation::OpenLanes), 0);
    assert!(!health.liveness().ok);
    assert_eq!(world.broker.messages(ENDPOINT)[0].delivery_count, 0);
}

/// Answers for fewer keys than it was asked for.
#[derive(Debug, Clone)]
struct Short(Arc<FaultyStore>);

#[async_trait]
impl InboxStore for Short {
    fn provider(&self) -> &'static str {
        "short"
    }

    fn capabilities(&self) -> StoreCapabilities {
        self.0.capabilities()
    }

    async fn verify(&self) -> Result<(), Error> {
        Ok(())
    }

    async fn check(&self, _: &[InboxKey]) -> Result<Vec<Option<Timestamp>>, Error> {
        Ok(Vec::new())
    }

    async fn record(&self, keys: &[InboxKey]) -> Result<Vec<Recorded>, Error> {
        self.0.record(keys).await
    }

    async fn purge(&self, _: &EndpointId, _: Cutoff, _: PurgeLimit) -> Result<u64, Error> {
        Ok(0)
    }
}

/// INB-11: a store that gives no answer for a key has not said that the message is new.
#[tokio::test(start_paused = true)]
async fn a_missing_answer_is_an_outage() {
    let world = World::new().await;
    let process = world.process();
    let store = Short(Arc::new(process.store.clone()));
    world.place("a").await;
    let builder = process.builder_without_inbox(&world);
    let running = process.start(builder.inbox(InboxSetup::new(store)));
    tokio::time::sleep(Duration::from_secs(5)).await;
    running.stop().await;
    assert_eq!(world.script.begun(), [""; 0]);
    assert_eq!(world.lines(), [""; 0]);
}

/// SUB-30: a store that answers checks and can't write, such as one whose disk is full, holds
/// intake back like any other: one run of the handler and one delivery are all that it costs.
#[tokio::test(start_paused = true)]
async fn a_store_that_can_not_write_burns_no_deliveries() {
    let world = World::new().await;
    let process = world.process();
    process.store.inject(When::record(), Fault::fail(outage));
    world.place("a").await;
    let running = process.start(process.builder(&world));
    tokio::time::sleep(Duration::from_secs(3_600)).await;
    assert_eq!(world.script.done(), ["a"]);
    assert_eq!(world.broker.messages(ENDPOINT)[0].delivery_count, 1);

    process.store.heal();
    world.settle().await;
    running.stop().await;
    assert_eq!(world.script.done(), ["a", "a"]);
    assert_eq!(world.recorded(), ["m-a"]);
    world.assert_idle();
}
