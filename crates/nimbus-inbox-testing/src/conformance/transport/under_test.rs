use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use nimbus_inbox_core::{Clock, EndpointId, SystemClock, Timestamp};
use nimbus_messaging::{Transport, TransportCapabilities, TransportError};

use crate::ManualClock;

type ReadDeadLetters = dyn Fn(EndpointId) -> BoxFuture<'static, Result<Vec<DeadLettered>, TransportError>>
    + Send
    + Sync;

type LaneOf = dyn Fn(&str) -> u64 + Send + Sync;

/// One process's connection to a broker, and what a suite needs beside it that the transport's
/// trait does not offer.
///
/// Every addition is optional; cases that need a missing one are not listed.
#[derive(Clone)]
#[must_use = "a factory returns it"]
pub struct TransportUnderTest {
    pub(super) transport: Arc<dyn Transport>,
    clock: Option<ManualClock>,
    clock_moved: Arc<dyn Fn() + Send + Sync>,
    delivery_limit: Option<u32>,
    dead_letters: Option<Arc<ReadDeadLetters>>,
    cut: Option<Arc<dyn Fn() -> BoxFuture<'static, ()> + Send + Sync>>,
    lane_of: Option<Arc<LaneOf>>,
    briefly: Duration,
}

/// How long a case waits for what must not come, unless the factory says otherwise. A sound
/// transport passes however short it is.
const BRIEFLY: Duration = Duration::from_millis(30);

/// A message that was set aside for an operator, as a suite reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLettered {
    /// The message's id.
    pub message_id: Option<String>,
    /// The reason given.
    pub reason: String,
    /// The description given.
    pub description: String,
}

impl TransportUnderTest {
    /// A transport alone. Time passes by itself, so its locks should hold for no longer than a few
    /// seconds, and for no less than one.
    pub fn new(transport: impl Transport) -> Self {
        Self {
            transport: Arc::new(transport),
            clock: None,
            clock_moved: Arc::new(|| {}),
            delivery_limit: None,
            dead_letters: None,
            cut: None,
            lane_of: None,
            briefly: BRIEFLY,
        }
    }

    /// Says that a lane carries several sessions, as a partition does, and which lane each session
    /// is in. Cases that hold several lanes then take sessions of different ones, and there are
    /// cases about sessions that share a lane.
    pub fn with_shared_lanes(
        mut self,
        lane_of: impl Fn(&str) -> u64 + Send + Sync + 'static,
    ) -> Self {
        self.lane_of = Some(Arc::new(lane_of));
        self
    }

    /// How long a case waits for what must not come; 30 milliseconds unless set. Longer where an
    /// answer takes longer, so that what is wrong has the time to show.
    pub fn with_brief_wait(mut self, wait: Duration) -> Self {
        self.briefly = wait;
        self
    }

    /// Names the clock that locks, delays and schedules of the broker follow, the same for every
    /// connection in a namespace, such as `ns.shared(ManualClock::default)`. Cases then move it
    /// instead of waiting.
    ///
    /// Only these follow it: how long a call waits for a message stays in tokio's time.
    pub fn with_clock(mut self, clock: ManualClock) -> Self {
        self.clock = Some(clock);
        self
    }

    /// Calls `moved` after each move of the [clock](Self::with_clock), for a broker that does not
    /// look at it by itself.
    pub fn when_clock_moved(mut self, moved: impl Fn() + Send + Sync + 'static) -> Self {
        self.clock_moved = Arc::new(moved);
        self
    }

    /// Adds the cases about a message that comes back too often: it is delivered `limit` times,
    /// then dead-lettered. They need [`with_dead_letters`](Self::with_dead_letters) as well.
    pub fn with_delivery_limit(mut self, limit: u32) -> Self {
        self.delivery_limit = Some(limit);
        self
    }

    /// Adds the cases that read what was dead-lettered at an endpoint, oldest first.
    pub fn with_dead_letters<F, Fut>(mut self, read: F) -> Self
    where
        F: Fn(EndpointId) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Vec<DeadLettered>, TransportError>> + Send + 'static,
    {
        self.dead_letters = Some(Arc::new(move |endpoint| read(endpoint).boxed()));
        self
    }

    /// Adds the cases about connections that break: `cut` breaks those of this transport, and
    /// returns when they are broken.
    pub fn with_cut<F, Fut>(mut self, cut: F) -> Self
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        self.cut = Some(Arc::new(move || cut().boxed()));
        self
    }

    /// Lets time pass at the broker.
    pub(super) async fn pass(&self, duration: Duration) {
        match &self.clock {
            Some(clock) => {
                clock.advance(duration);
                (self.clock_moved)();
            }
            None => tokio::time::sleep(duration).await,
        }
    }

    /// How long a case waits for what must not come.
    pub(super) fn briefly(&self) -> Duration {
        self.briefly
    }

    /// The lane of a session, where lanes carry several.
    pub(super) fn lane_of(&self, session: &str) -> Option<u64> {
        self.lane_of.as_ref().map(|lane_of| lane_of(session))
    }

    /// What time it is at the broker.
    pub(super) fn now(&self) -> Timestamp {
        self.clock
            .as_ref()
            .map_or_else(|| SystemClock.now(), Clock::now)
    }

    pub(super) fn delivery_limit(&self) -> u32 {
        self.delivery_limit
            .expect("the case is listed only with a delivery limit")
    }

    pub(super) async fn dead_letters(
        &self,
        endpoint: &EndpointId,
    ) -> Result<Vec<DeadLettered>, TransportError> {
        let read = self.dead_letters.as_ref();
        read.expect("the case is listed only with a reader of dead letters")(endpoint.clone()).await
    }

    pub(super) async fn cut(&self) {
        let cut = self.cut.as_ref();
        cut.expect("the case is listed only with a way to cut connections")().await;
    }

    pub(super) fn facts(&self) -> Facts {
        Facts {
            capabilities: self.transport.capabilities(),
            dead_letters: self.dead_letters.is_some(),
            delivery_limit: self.delivery_limit.is_some(),
            cut: self.cut.is_some(),
            shared_lanes: self.lane_of.is_some(),
        }
    }
}

impl fmt::Debug for TransportUnderTest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TransportUnderTest")
            .field("transport", &self.transport)
            .field("facts", &self.facts())
            .finish_non_exhaustive()
    }
}

/// What decides which cases there are.
#[derive(Debug, Clone, Copy)]
pub(super) struct Facts {
    pub(super) capabilities: TransportCapabilities,
    pub(super) dead_letters: bool,
    pub(super) delivery_limit: bool,
    pub(super) cut: bool,
    pub(super) shared_lanes: bool,
}
