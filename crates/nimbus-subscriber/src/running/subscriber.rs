use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{CleanupTask, Clock, EndpointId, InboxSetup};
use nimbus_messaging::{SessionStore, Transport};
use tokio::task::JoinHandle;
use tokio_util::task::TaskTracker;

use super::health::{Health, Phase};
use super::intake::Intake;
use super::lane::LaneWorker;
use super::receive::accept_lanes;
use super::start::{Started, start};
use super::stop::Stop;
use super::{RunReport, Tally};
use crate::builder::SubscriberBuilder;
use crate::circuit_breaker::{Circuit, CircuitBreaker};
use crate::cloud_events::CloudEvents;
use crate::error::SubscriberError;
use crate::handler::Outbound;
use crate::lifecycle::Lifecycle;
use crate::middleware::Pipeline;
use crate::processor::{Classifiers, Services};
use crate::responder::Responder;
use crate::retry::{RandomSource, RetryPolicies};
use crate::telemetry::Spans;

/// How long what follows a handler may take after the drain deadline; each of its calls has a bound
/// of its own, which ends sooner.
const TAIL_GRACE: Duration = Duration::from_secs(60);

/// Everything a subscriber was built from.
#[derive(Debug)]
pub(crate) struct Settings {
    pub(crate) endpoint: EndpointId,
    pub(crate) transport: Arc<dyn Transport>,
    pub(crate) inbox: Option<InboxSetup>,
    pub(crate) session_store: Option<Arc<dyn SessionStore>>,
    pub(crate) cloud_events: CloudEvents,
    pub(crate) pipeline: Pipeline,
    pub(crate) circuit_breaker: Option<CircuitBreaker>,
    pub(crate) classifiers: Classifiers,
    pub(crate) retries: RetryPolicies,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) spans: Spans,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn RandomSource>,
    pub(crate) concurrent_sessions: usize,
    pub(crate) session_idle: Duration,
    pub(crate) drain_deadline: Duration,
}

/// The runtime of one endpoint: receives, keeps each session in order, dispatches to handlers and
/// reports every outcome.
#[derive(Debug)]
pub struct Subscriber {
    settings: Settings,
    health: Health,
}

impl Subscriber {
    /// Starts building the subscriber of `endpoint`, e.g. `BillingEndpoint`.
    pub fn builder(endpoint: impl Into<String>) -> SubscriberBuilder {
        SubscriberBuilder::new(endpoint.into())
    }

    pub(crate) fn new(settings: Settings) -> Self {
        Self {
            settings,
            health: Health::default(),
        }
    }

    /// Liveness and readiness, also while it runs (SUB-31).
    #[must_use]
    pub fn health(&self) -> Health {
        self.health.clone()
    }

    /// Receives until `stop` resolves, then finishes what is in flight and says what it did
    /// (SUB-29).
    ///
    /// After `stop` nothing new is received. Handlers see
    /// [`stopping`](crate::HandlerContext::stopping) and may finish until the drain deadline, when
    /// they are dropped; what has returned from its handler is recorded and settled in any case.
    ///
    /// A stop while it still starts ends it at once, with an empty report.
    ///
    /// # Errors
    ///
    /// [`SubscriberError`] when the store or the transport can't serve at startup, and when
    /// receiving ended before `stop`, which takes a fault in a transport: in-flight work is finished
    /// first. Outages are waited out.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it stops at once: handlers are dropped and their messages delivered again, while
    /// records and settlements that have begun finish in the background as long as the runtime
    /// lives.
    pub async fn run(
        self,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<RunReport, SubscriberError> {
        let Self {
            mut settings,
            health,
        } = self;
        health.enter(Phase::Starting);
        let _stopped = StoppedOnDrop(health.clone());
        let mut stop = pin!(stop);
        let started = tokio::select! {
            biased;
            started = start(&mut settings) => started?,
            () = &mut stop => return Ok(RunReport::default()),
        };
        let drain_deadline = settings.drain_deadline;
        let endpoint = settings.endpoint.clone();
        let mut running = Running::begin(settings, started, &health);
        health.enter(Phase::Receiving);

        let stopped = tokio::select! {
            biased;
            () = stop => true,
            _ = &mut running.accepting => false,
        };

        health.enter(Phase::Stopping);
        let report = running.finish(drain_deadline).await;
        if stopped {
            Ok(report)
        } else {
            Err(SubscriberError::receiving(&endpoint, report))
        }
    }
}

/// Says that the subscriber has ended, however `run` ends.
struct StoppedOnDrop(Health);

impl Drop for StoppedOnDrop {
    fn drop(&mut self) {
        self.0.enter(Phase::Stopped);
    }
}

/// A subscriber that receives.
struct Running {
    control: Stop,
    stopper: Arc<dyn nimbus_messaging::Stopper>,
    /// Takes lanes until it is stopped.
    accepting: JoinHandle<()>,
    /// Accepting, lanes and cleanup.
    background: TaskTracker,
    /// Deliveries in work.
    processing: TaskTracker,
    tally: Tally,
    inbox: Option<nimbus_inbox_core::Inbox>,
    /// Last, so that a dropped `run` stops what the fields above began.
    _stop_on_drop: (
        StopOnDrop,
        tokio_util::sync::DropGuard,
        tokio_util::sync::DropGuard,
    ),
}

/// Ends the waiting for lanes when `run` is dropped.
struct StopOnDrop(Arc<dyn nimbus_messaging::Stopper>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

impl Running {
    fn begin(settings: Settings, started: Started, health: &Health) -> Self {
        let Started {
            inbox,
            resolver,
            own_queue,
            lanes,
        } = started;
        let tally = Tally::default();
        let control = Stop::default();
        let (stopping_guard, abort_guard) = control.on_drop();
        let (background, processing) = (TaskTracker::new(), TaskTracker::new());
        let responder = Responder::new(
            settings.endpoint.clone(),
            resolver,
            Arc::clone(&settings.clock),
        );
        if let Some(inbox) = &inbox {
            let cleanup = CleanupTask::new(inbox.clone());
            background.spawn(cleanup.run(control.stopping.clone()));
        }
        let services = Arc::new(Services {
            endpoint: settings.endpoint.clone(),
            inbox: inbox.clone(),
            intake: Intake::new(
                settings.endpoint,
                inbox.clone(),
                settings.circuit_breaker.map(Circuit::new),
                Arc::clone(&settings.clock),
                health.clone(),
            ),
            cloud_events: settings.cloud_events,
            pipeline: settings.pipeline,
            classifiers: settings.classifiers,
            retries: settings.retries,
            responder,
            own_queue,
            outbound: Outbound(settings.transport),
            lifecycle: settings.lifecycle,
            spans: settings.spans,
            clock: settings.clock,
            random: settings.random,
            tally: tally.clone(),
        });
        let worker = LaneWorker {
            services,
            session_store: settings.session_store,
            stop: control.clone(),
            tasks: processing.clone(),
            idle: settings.session_idle,
        };
        let stopper = lanes.stopper();
        let accepting = background.spawn(accept_lanes(
            lanes,
            settings.concurrent_sessions,
            worker,
            background.clone(),
            health.clone(),
        ));
        Self {
            control,
            stopper: Arc::clone(&stopper),
            accepting,
            background,
            processing,
            tally,
            inbox,
            _stop_on_drop: (StopOnDrop(stopper), stopping_guard, abort_guard),
        }
    }

    /// Finishes what is in flight: handlers until the deadline, what follows them to the end.
    async fn finish(self, drain_deadline: Duration) -> RunReport {
        self.control.stopping.cancel();
        self.stopper.stop();
        self.background.close();
        self.processing.close();
        if tokio::time::timeout(drain_deadline, self.ended())
            .await
            .is_err()
        {
            tracing::warn!(
                in_work = self.processing.len(),
                "handlers still run after the drain deadline; dropping them, their messages are \
                 delivered again"
            );
            self.control.abort.cancel();
            if tokio::time::timeout(TAIL_GRACE, self.ended())
                .await
                .is_err()
            {
                tracing::error!(
                    in_work = self.processing.len(),
                    "records or settlements did not end; their messages are delivered again"
                );
            }
        }
        let unfinished = u64::try_from(self.processing.len()).unwrap_or(u64::MAX);
        self.tally.report(unfinished)
    }

    async fn ended(&self) {
        self.background.wait().await;
        self.processing.wait().await;
        if let Some(inbox) = &self.inbox {
            inbox.drained().await;
        }
    }
}
