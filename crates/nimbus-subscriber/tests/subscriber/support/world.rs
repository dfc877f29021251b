use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{EndpointId, InboxStoreExt};
use nimbus_inbox_testing::{
    BrokerOptions, InMemoryBroker, InMemoryInbox, InMemoryTransport, TokioClock, key,
};
use nimbus_messaging::{
    Address, Cas, Envelope, EventRequest, Headers, MessageContent, MessageType, ParkedCopy,
    ParkedRef, Sender, SessionId, SessionState, SessionStore, Transport, VersionedState,
};
use nimbus_subscriber::{RunReport, SubscriberBuilder};

use super::{OrderPlaced, Process, Running, Script, Told};

pub(crate) const ENDPOINT: &str = "BillingEndpoint";
pub(crate) const EVENT_TYPE: &str = "OrderPlaced";

/// A broker with one endpoint, the endpoint's inbox, and the script of its handlers.
pub(crate) struct World {
    pub(crate) broker: InMemoryBroker,
    pub(crate) inbox: InMemoryInbox,
    pub(crate) script: Script,
    pub(crate) clock: TokioClock,
    publisher: Arc<dyn Sender>,
    /// A process apart from the subscribers'.
    publishing: InMemoryTransport,
}

impl World {
    pub(crate) async fn new() -> Self {
        Self::with(BrokerOptions::default()).await
    }

    pub(crate) async fn with(options: BrokerOptions) -> Self {
        let clock = TokioClock::default();
        let broker = InMemoryBroker::with_options(options.with_clock(clock));
        broker.declare(ENDPOINT);
        let publishing = broker.connect();
        let publisher = publishing.sender(&Address::from(ENDPOINT)).await.unwrap();
        Self {
            broker,
            inbox: InMemoryInbox::with_clock(clock),
            script: Script::default(),
            clock,
            publisher,
            publishing,
        }
    }

    /// The event `order`, as message `m-<order>` about the event `<order>`.
    pub(crate) fn event(order: &str) -> EventRequest {
        let event = OrderPlaced {
            order: order.to_owned(),
        };
        EventRequest::new(EVENT_TYPE, &event)
            .unwrap()
            .with_message_id(format!("m-{order}"))
            .with_event_id(order)
    }

    /// The retry number 1 of the event `order` in session `s`, scheduled for the block `block-1`.
    pub(crate) fn retry(order: &str) -> Headers {
        Headers {
            message_id: Some(format!("r-{order}")),
            session_id: Some("s".to_owned()),
            message_type: MessageType::RetryRequest,
            from: Some(Address::RETRY),
            to: Some(Address::from(ENDPOINT)),
            event_id: Some(order.into()),
            event_type_id: Some(EVENT_TYPE.to_owned()),
            inbox_message_id: Some(format!("m-{order}")),
            block_id: Some("block-1".to_owned()),
            retry_count: Some(1),
            ..Headers::default()
        }
    }

    /// What an operator asks for about the event `order` in session `s`, as message `c-<order>`.
    pub(crate) fn command(message_type: MessageType, order: &str) -> Headers {
        Headers {
            message_id: Some(format!("c-{order}")),
            message_type,
            from: Some(Address::MANAGER),
            inbox_message_id: None,
            block_id: None,
            retry_count: None,
            ..Self::retry(order)
        }
    }

    /// A world whose session `s` the event `order` blocks, with `b` parked behind it.
    pub(crate) async fn blocked(order: &str, options: BrokerOptions) -> Self {
        let world = Self::with(options).await;
        world.park("b").await;
        world.set_state(&SessionState {
            deferred_count: 1,
            next_deferral_sequence: 1,
            ..Self::blocked_by(order)
        });
        world
    }

    /// Session `s` is as [`blocked`](Self::blocked) left it.
    pub(crate) fn is_still_blocked(&self) -> bool {
        self.state().block_id.as_deref() == Some("block-1") && self.parked().len() == 1
    }

    /// The state of a session that the event `order` blocks, as block `block-1`.
    pub(crate) fn blocked_by(order: &str) -> SessionState {
        SessionState {
            blocked_by_event_id: Some(order.into()),
            blocked_by_message_id: Some(format!("m-{order}")),
            block_id: Some("block-1".to_owned()),
            ..SessionState::default()
        }
    }

    /// Sends a message about the event `order` with these headers.
    pub(crate) async fn send(&self, headers: Headers, order: &str) {
        let body = Self::event(order).to(ENDPOINT).body;
        let content = MessageContent::decode(&body).unwrap();
        self.publish(headers.into_envelope(&content)).await;
    }

    /// Parks a copy of the event `order` in session `s`.
    pub(crate) async fn park(&self, order: &str) {
        let envelope = Self::event(order)
            .with_session("s")
            .with_headers(|headers| headers.inbox_message_id = headers.message_id.clone())
            .to(ENDPOINT);
        self.park_envelope(envelope).await;
    }

    /// Parks a message under an id of its own.
    pub(crate) async fn park_envelope(&self, mut envelope: Envelope) {
        let store = self.sessions();
        let VersionedState { mut state, version } = store.fence(&session("s")).await.unwrap();
        let sequence = state.next_deferral_sequence;
        let id = format!("parked-{sequence}");
        envelope.message_id = Some(id.clone());
        let copy = ParkedCopy {
            reference: ParkedRef {
                sequence,
                id,
                generation: 0,
            },
            envelope,
        };
        state.count_parked();
        let written = store.park(&session("s"), &copy, &state, version).await;
        assert!(matches!(written, Ok(Cas::Written(_))));
    }

    /// The endpoint's sessions, as a process beside the subscribers reaches them.
    pub(crate) fn sessions(&self) -> Arc<dyn SessionStore> {
        let endpoint = EndpointId::new(ENDPOINT).unwrap();
        self.publishing.session_store(&endpoint)
    }

    /// Asks for the parked copies of session `s` to be handled.
    pub(crate) async fn request_drain(&self) {
        let request = Headers {
            message_id: Some("drain".to_owned()),
            session_id: Some("s".to_owned()),
            message_type: MessageType::ProcessDeferredRequest,
            from: Some(Address::DEFERRED_PROCESSOR),
            ..Headers::default()
        };
        self.publish(request.into_envelope(&MessageContent::default()))
            .await;
    }

    pub(crate) async fn publish(&self, message: Envelope) {
        self.publisher.send(vec![message]).await.unwrap();
    }

    /// Publishes the event `order` in session `s`.
    pub(crate) async fn place(&self, order: &str) {
        self.place_in("s", order).await;
    }

    pub(crate) async fn place_in(&self, session: &str, order: &str) {
        let message = Self::event(order).with_session(session).to(ENDPOINT);
        self.publish(message).await;
    }

    pub(crate) fn process(&self) -> Process {
        Process::new(self)
    }

    /// Starts a subscriber in a process of its own.
    pub(crate) fn start(&self) -> Running {
        self.start_with(|builder| builder)
    }

    pub(crate) fn start_with(
        &self,
        configure: impl FnOnce(SubscriberBuilder) -> SubscriberBuilder,
    ) -> Running {
        let process = self.process();
        process.start(configure(process.builder(self)))
    }

    /// Runs a subscriber until nothing happens any more, then stops it.
    pub(crate) async fn run(&self) -> RunReport {
        self.run_with(|builder| builder).await
    }

    pub(crate) async fn run_with(
        &self,
        configure: impl FnOnce(SubscriberBuilder) -> SubscriberBuilder,
    ) -> RunReport {
        let running = self.start_with(configure);
        self.settle().await;
        running.stop().await
    }

    /// Lets an hour pass in no time: every lock, delay and bound of these tests is over by then.
    pub(crate) async fn settle(&self) {
        tokio::time::sleep(Duration::from_secs(60 * 60)).await;
    }

    /// What the resolver was told, in order.
    pub(crate) fn told(&self) -> Vec<Told> {
        let envelopes = self.broker.envelopes(Address::RESOLVER);
        envelopes.iter().map(Told::read).collect()
    }

    /// As [`told`](Self::told), each as its message type and event.
    pub(crate) fn lines(&self) -> Vec<String> {
        self.told().iter().map(Told::line).collect()
    }

    /// What was told about one event.
    pub(crate) fn told_of(&self, event: &str) -> Vec<Told> {
        let about = |told: &Told| {
            told.headers
                .event_id
                .as_ref()
                .is_some_and(|id| id.as_str() == event)
        };
        self.told().into_iter().filter(about).collect()
    }

    /// Stores the state of session `s`.
    pub(crate) fn set_state(&self, state: &SessionState) {
        self.broker
            .put_session_json(ENDPOINT, &session("s"), state.to_json());
    }

    /// Records a message id as handled.
    pub(crate) async fn record(&self, id: &str) {
        self.inbox.record_one(&key(ENDPOINT, id)).await.unwrap();
    }

    /// The state of session `s`.
    pub(crate) fn state(&self) -> SessionState {
        self.broker.session_state(ENDPOINT, &session("s"))
    }

    /// The copies parked in session `s`.
    pub(crate) fn parked(&self) -> Vec<ParkedCopy> {
        self.broker.parked(ENDPOINT, &session("s"))
    }

    /// The recorded message ids, in the order of recording.
    pub(crate) fn recorded(&self) -> Vec<String> {
        let keys = self.inbox.keys();
        assert!(keys.iter().all(|key| key.endpoint().as_str() == ENDPOINT));
        keys.iter()
            .map(|key| key.message_id().as_str().to_owned())
            // What the subscriber recorded to see whether the store serves again.
            .filter(|id| !id.starts_with("nimbus:trial:"))
            .collect()
    }

    pub(crate) fn is_recorded(&self, id: &str) -> bool {
        self.inbox.keys().contains(&key(ENDPOINT, id))
    }

    /// Nothing waits at the endpoint, in no form, and nothing was set aside.
    pub(crate) fn assert_idle(&self) {
        assert_eq!(self.broker.messages(ENDPOINT), []);
        assert_eq!(self.broker.scheduled(ENDPOINT), []);
        assert_eq!(self.broker.dead_letters(ENDPOINT), []);
    }
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).unwrap()
}
