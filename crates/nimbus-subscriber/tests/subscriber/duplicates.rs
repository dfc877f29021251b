//! What becomes of a message whose work was done before.

use std::error::Error as StdError;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use nimbus_inbox_core::{InboxOptions, InboxSetup, telemetry};
use nimbus_messaging::{EventRequest, SessionState};
use nimbus_subscriber::{DuplicateDetected, LifecycleObserver};
use opentelemetry::metrics::MeterProvider;
use opentelemetry_sdk::metrics::data::{AggregatedMetrics, MetricData};
use opentelemetry_sdk::metrics::{InMemoryMetricExporter, PeriodicReader, SdkMeterProvider};

use crate::support::{ENDPOINT, EVENT_TYPE, Logs, OrderPlaced, World};

#[derive(Debug, Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

#[async_trait]
impl LifecycleObserver for Seen {
    async fn on_duplicate_detected(
        &self,
        event: &DuplicateDetected<'_>,
    ) -> Result<(), Box<dyn StdError + Send + Sync>> {
        let id = event.headers.message_id.clone().unwrap_or_default();
        self.0
            .lock()
            .unwrap()
            .push(format!("{} {id}", event.endpoint));
        Ok(())
    }
}

/// INB-09: of a redelivered success the handler does not run; observer, counter, resolver and log
/// are told, none of them the payload; the message is completed. SUB-24: it is a SkipResponse with
/// the text `DuplicateDetected`.
#[tokio::test(start_paused = true)]
async fn a_duplicate_is_signalled_counted_reported_and_completed() {
    let logs = Logs::capture();
    let exporter = InMemoryMetricExporter::default();
    let reader = PeriodicReader::builder(exporter.clone()).build();
    let provider = SdkMeterProvider::builder().with_reader(reader).build();
    let world = World::new().await;
    let seen = Seen::default();
    let event = OrderPlaced {
        order: "payload-of-4711".to_owned(),
    };
    let message = EventRequest::new(EVENT_TYPE, &event)
        .unwrap()
        .with_message_id("m-1")
        .with_event_id("e-1")
        .with_session("s-1")
        .with_headers(|headers| headers.correlation_id = Some("c-1".to_owned()))
        .to(ENDPOINT);
    world.publish(message.clone()).await;
    world.publish(message).await;

    let process = world.process();
    let options = InboxOptions::default().with_meter(provider.meter("test"));
    let setup = InboxSetup::new(world.inbox.clone()).with_options(options);
    let builder = process.builder_without_inbox(&world).inbox(setup);
    let running = process.start(builder.observer(seen.clone()));
    world.settle().await;
    let report = running.stop().await;

    assert_eq!(world.script.begun(), ["payload-of-4711"]);
    assert_eq!(*seen.0.lock().unwrap(), ["BillingEndpoint m-1"]);
    assert_eq!((report.handled, report.duplicates), (1, 1));
    assert_eq!(
        world.lines(),
        ["ResolutionResponse e-1", "SkipResponse e-1"]
    );
    assert_eq!(world.told()[1].error_text(), Some("DuplicateDetected"));
    assert_eq!(
        count(&provider, &exporter, telemetry::DUPLICATE_DETECTED),
        1
    );
    world.assert_idle();

    let lines = logs.lines("duplicate delivery skipped");
    assert_eq!(lines.len(), 1);
    // Its own fields: those of the span around it are not there for everyone.
    let (_, fields) = lines[0].split_once("duplicate delivery skipped").unwrap();
    for part in [
        "BillingEndpoint",
        "m-1",
        "e-1",
        "s-1",
        "c-1",
        "EventRequest",
        EVENT_TYPE,
    ] {
        assert!(fields.contains(part), "{part} is not in {fields}");
    }
    assert!(!logs.text().contains("payload-of-4711"));
}

fn count(provider: &SdkMeterProvider, exporter: &InMemoryMetricExporter, name: &str) -> u64 {
    provider.force_flush().unwrap();
    let exported = exporter.get_finished_metrics().unwrap();
    let metrics = exported
        .iter()
        .flat_map(|resource| resource.scope_metrics())
        .flat_map(|scope| scope.metrics())
        .filter(|metric| metric.name() == name);
    let sums = metrics.flat_map(|metric| match metric.data() {
        AggregatedMetrics::U64(MetricData::Sum(sum)) => {
            sum.data_points().map(|point| point.value()).collect()
        }
        _ => Vec::new(),
    });
    sums.sum()
}

#[derive(Debug, Clone, Copy)]
enum Bad {
    Fails,
    Panics,
    PanicsAtOnce,
    Hangs,
}

// Written out, so that it can panic before there is a future.
impl LifecycleObserver for Bad {
    fn on_duplicate_detected<'a, 'b, 'c, 'd>(
        &'a self,
        _: &'b DuplicateDetected<'c>,
    ) -> futures_util::future::BoxFuture<'d, Result<(), Box<dyn StdError + Send + Sync>>>
    where
        'a: 'd,
        'b: 'd,
        'c: 'd,
        Self: 'd,
    {
        assert!(!matches!(self, Self::PanicsAtOnce), "a planned panic");
        Box::pin(async move {
            match self {
                Self::Fails => Err("a planned failure".into()),
                Self::Hangs => std::future::pending().await,
                _ => panic!("a planned panic"),
            }
        })
    }
}

/// INB-10: an observer that fails, panics or hangs is warned about and breaks nothing, not even
/// another observer.
#[tokio::test(start_paused = true)]
async fn a_bad_observer_breaks_nothing() {
    for bad in [Bad::Fails, Bad::Panics, Bad::PanicsAtOnce, Bad::Hangs] {
        let logs = Logs::capture();
        let world = World::new().await;
        let seen = Seen::default();
        world.record("m-a").await;
        world.place("a").await;
        world.place("b").await;
        let good = seen.clone();
        let report = world
            .run_with(|builder| builder.observer(bad).observer(good))
            .await;
        assert_eq!(
            world.lines(),
            ["SkipResponse a", "ResolutionResponse b"],
            "{bad:?}"
        );
        assert_eq!((report.duplicates, report.abandoned), (1, 0), "{bad:?}");
        assert_eq!(seen.0.lock().unwrap().len(), 1, "{bad:?}");
        assert_eq!(
            logs.lines("a lifecycle observer failed").len(),
            1,
            "{bad:?}"
        );
        world.assert_idle();
    }
}

/// SUB-19, SUB-16: a duplicate whose session is free but has messages set aside is the only trigger
/// left after a crash between unblock and drain.
#[tokio::test(start_paused = true)]
async fn a_duplicate_in_a_draining_session_has_it_drained() {
    let world = World::new().await;
    world.park("b").await;
    world.record("m-a").await;
    world.place("a").await;
    world.run().await;
    assert_eq!(world.lines(), ["SkipResponse a", "ResolutionResponse b"]);
    assert_eq!(world.state().deferred_count, 0);
    world.assert_idle();
}

/// SUB-19: a session that another event blocks is left alone.
#[tokio::test(start_paused = true)]
async fn a_duplicate_in_a_session_that_another_event_blocks_changes_nothing() {
    let world = World::new().await;
    world.park("b").await;
    let blocked = SessionState {
        deferred_count: 1,
        next_deferral_sequence: 1,
        ..World::blocked_by("z")
    };
    world.set_state(&blocked);
    world.record("m-a").await;
    world.place("a").await;
    let report = world.run().await;
    assert_eq!(report.received, 1, "a drain was requested");
    assert_eq!(world.lines(), ["SkipResponse a"]);
    assert_eq!(world.state(), blocked);
    assert_eq!(world.parked().len(), 1);
    world.assert_idle();
}
