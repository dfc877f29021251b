//! The transport under test, with answers that a case can rely on.

use std::ops::Deref;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{
    Address, Delivery, Envelope, Lane, LaneSource, Sender, SessionId, SettledSignal,
    TransportError, TransportErrorKind,
};
use tokio::time::timeout;

use super::suite::TransportConformance;
use super::under_test::TransportUnderTest;
use crate::conformance::Namespace;
pub(super) use crate::conformance::answers::expect;
use crate::conformance::session_store::SessionUnderTest;

/// How long a case waits for what must come; it comes at once unless the machine is busy.
pub(super) const PATIENCE: Duration = Duration::from_secs(20);

/// One case's namespace and the way to connect to its broker.
#[derive(Clone)]
pub(super) struct Subject {
    suite: Arc<TransportConformance>,
    namespace: Namespace,
}

impl Subject {
    pub(super) fn new(suite: Arc<TransportConformance>) -> Self {
        Self {
            suite,
            namespace: Namespace::unique(),
        }
    }

    /// One more process.
    pub(super) async fn connect(&self) -> Process {
        let connected = (self.suite.factory)(self.namespace.clone()).await;
        Process {
            under_test: expect("connecting to the broker", connected),
            prefix: self.namespace.name().to_owned(),
        }
    }
}

/// A process whose calls must succeed.
#[derive(Clone)]
pub(super) struct Process {
    under_test: TransportUnderTest,
    prefix: String,
}

impl Deref for Process {
    type Target = TransportUnderTest;

    fn deref(&self) -> &TransportUnderTest {
        &self.under_test
    }
}

impl Process {
    /// The name of an endpoint that no other case has.
    pub(super) fn named(&self, name: &str) -> EndpointId {
        EndpointId::new(format!("{}_{name}", self.prefix))
            .expect("the suite names usable endpoints")
    }

    /// Sessions in lanes of their own, with names that begin as asked.
    pub(super) fn apart<const N: usize>(&self, names: [&str; N]) -> [String; N] {
        let mut taken = Vec::new();
        names.map(|name| {
            let is_free = |session: &String| {
                let lane = self.lane_of(session);
                lane.is_none_or(|lane| !taken.contains(&lane))
            };
            let session = variants(name).find(is_free).expect("a lane is left");
            taken.extend(self.lane_of(&session));
            session
        })
    }

    /// Sessions that share a lane, with names that begin as asked.
    pub(super) fn together<const N: usize>(&self, names: [&str; N]) -> [String; N] {
        let lane = self.lane_of(names[0]);
        names.map(|name| {
            let is_there = |session: &String| self.lane_of(session) == lane;
            variants(name).find(is_there).expect("a name for the lane")
        })
    }

    /// Completes so many messages, whatever lanes they are in, in the order they come.
    pub(super) async fn complete_any(&self, endpoint: &EndpointId, count: usize) -> Vec<Envelope> {
        let mut completed = Vec::new();
        while completed.len() < count {
            let mut lane = self.accept(endpoint).await;
            while let Some(delivery) = lane.next_within(self.briefly()).await {
                completed.push(delivery.envelope.clone());
                lane.complete(delivery).await;
            }
            lane.release().await;
        }
        completed
    }

    /// An endpoint that can be sent to and received from.
    pub(super) async fn declare(&self, name: &str) -> EndpointId {
        let endpoint = self.named(name);
        expect(
            "verifying the transport",
            self.transport.verify(&endpoint).await,
        );
        endpoint
    }

    pub(super) async fn sender(&self, endpoint: &EndpointId) -> Arc<dyn Sender> {
        let sender = self
            .transport
            .sender(&Address::new(endpoint.as_str()))
            .await;
        expect("opening a sender", sender)
    }

    pub(super) async fn send(
        &self,
        endpoint: &EndpointId,
        messages: impl IntoIterator<Item = Envelope>,
    ) {
        let messages = messages.into_iter().collect();
        expect("a send", self.sender(endpoint).await.send(messages).await);
    }

    pub(super) async fn lanes(&self, endpoint: &EndpointId) -> Box<dyn LaneSource> {
        expect("opening lanes", self.transport.lanes(endpoint).await)
    }

    /// A lane if there is one within `wait`. The accept is stopped, never dropped.
    pub(super) async fn accept_within(
        &self,
        endpoint: &EndpointId,
        wait: Duration,
    ) -> Option<HeldLane> {
        let mut lanes = self.lanes(endpoint).await;
        let stopper = lanes.stopper();
        let mut accepting = pin!(lanes.accept_next());
        let accepted = match timeout(wait, accepting.as_mut()).await {
            Ok(accepted) => accepted,
            Err(_) => {
                stopper.stop();
                let ended = timeout(PATIENCE, accepting).await;
                ended.expect("a stopped accept ends")
            }
        };
        let briefly = self.briefly();
        expect("an accept", accepted).map(|lane| HeldLane(lane, briefly))
    }

    /// The lane that must be there.
    pub(super) async fn accept(&self, endpoint: &EndpointId) -> HeldLane {
        let lane = self.accept_within(endpoint, PATIENCE).await;
        lane.unwrap_or_else(|| panic!("no lane of {endpoint} within {PATIENCE:?}"))
    }

    /// No lane may be there.
    pub(super) async fn nothing_to_accept(&self, endpoint: &EndpointId) {
        if let Some(mut lane) = self.accept_within(endpoint, self.briefly()).await {
            let delivery = lane.next_within(self.briefly()).await;
            panic!("a lane was there to accept, with {delivery:?}");
        }
    }

    /// Holds the lane of `session`, with one message in it. No other lane may be there to accept.
    pub(super) async fn hold_session(
        &self,
        endpoint: &EndpointId,
        session: &str,
    ) -> (HeldLane, SessionUnderTest) {
        self.send(endpoint, [message("hold", session)]).await;
        let lane = self.accept(endpoint).await;
        let store = lane.0.sessions();
        let session = SessionUnderTest {
            store: store.expect("a lane has a session store where the capabilities say so"),
            session: SessionId::new(session).expect("the suite names its sessions"),
        };
        (lane, session)
    }
}

/// A lane whose lock is held, and how long to wait for what must not come.
#[derive(Debug)]
pub(super) struct HeldLane(pub(super) Box<dyn Lane>, pub(super) Duration);

impl HeldLane {
    /// How long the lock holds.
    fn term(&self) -> Duration {
        self.0.lock().duration()
    }

    /// A time after which the lock has run out.
    pub(super) fn outlasting(&self) -> Duration {
        self.term() + Duration::from_millis(1)
    }

    /// A time after which the lock still holds, even if it passes twice.
    pub(super) fn moment(&self) -> Duration {
        self.term() / 3
    }

    pub(super) async fn next_within(&mut self, wait: Duration) -> Option<Delivery> {
        expect("a receive", self.0.receive(wait).await)
    }

    /// The delivery that must come next.
    pub(super) async fn next(&mut self) -> Delivery {
        let delivery = self.next_within(PATIENCE).await;
        delivery.unwrap_or_else(|| panic!("nothing to receive within {PATIENCE:?}"))
    }

    /// The delivery that must come next, with the id it must have.
    pub(super) async fn expect_next(&mut self, id: &str) -> Delivery {
        let delivery = self.next().await;
        assert_eq!(id_of(&delivery), Some(id), "the wrong message came next");
        delivery
    }

    /// These come next in this order, and are completed.
    pub(super) async fn complete_in_order(&mut self, ids: &[&str]) {
        for id in ids {
            let delivery = self.expect_next(id).await;
            self.complete(delivery).await;
        }
    }

    /// Completes a delivery and renews the lock, as a receiver does that has more to do than one
    /// term may last.
    pub(super) async fn complete(&mut self, delivery: Delivery) {
        settled("completing", delivery.receipt.complete()).await;
        expect("renewing", self.0.lock().renew().await);
    }

    /// No delivery may come.
    pub(super) async fn nothing_to_receive(&mut self) {
        if let Some(delivery) = self.next_within(self.1).await {
            panic!("received {delivery:?}, where nothing may come");
        }
    }

    pub(super) async fn release(self) {
        expect("a release", self.0.release().await);
    }
}

/// A name, and others that begin with it.
fn variants(name: &str) -> impl Iterator<Item = String> {
    let numbered = (1..1_000).map(move |number| format!("{name}-{number}"));
    std::iter::once(name.to_owned()).chain(numbered)
}

pub(super) fn message(id: &str, session: &str) -> Envelope {
    Envelope {
        message_id: Some(id.to_owned()),
        session_id: Some(session.to_owned()),
        ..Envelope::default()
    }
}

pub(super) fn id_of(delivery: &Delivery) -> Option<&str> {
    delivery.envelope.message_id.as_deref()
}

/// The settlement must succeed.
pub(super) async fn settled(what: &str, signal: SettledSignal) {
    expect(what, signal.await);
}

/// The call must answer that the lock is lost.
pub(super) fn expect_lock_lost<T>(what: &str, result: Result<T, TransportError>) {
    let kind = result.map(|_| ()).map_err(|error| error.kind());
    assert_eq!(kind, Err(TransportErrorKind::LockLost), "{what}");
}
