use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt;
use nimbus_inbox_core::{Inbox, InboxSetup, Timestamp};
use nimbus_inbox_testing::{
    BrokerOptions, InMemoryBroker, InMemoryInbox, ManualClock, MessageStatus, ProcessId,
};
use nimbus_messaging::{
    Address, Envelope, EventContent, EventReference, EventRequest, ManagerClient, MessageType,
    Sender, SessionId, SessionState, Transport,
};
use nimbus_subscriber::{RetryPolicy, Subscriber};

use crate::command::Command;
use crate::deferral::defer;
use crate::event::{ENDPOINT, EVENT_TYPE, Event, EventKind};
use crate::gate::Gate;
use crate::oracle::Oracle;
use crate::parts::{BrokerSteps, Handler, InboxSteps, play};
use crate::process::Process;
use crate::scenario::{InboxKind, Scenario};

/// The delay of every retry; time passes in larger steps only where nothing else is due.
const RETRY_DELAY: Duration = Duration::from_millis(100);
/// Longer than any schedule: locks end only where the explorer says so.
const A_DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// Everything that one schedule happens in.
#[derive(Debug)]
pub(crate) struct World<'s> {
    pub(crate) scenario: &'s Scenario,
    pub(crate) gate: Gate,
    pub(crate) oracle: Oracle,
    pub(crate) broker: InMemoryBroker,
    pub(crate) processes: Vec<Process>,
    clock: ManualClock,
    inbox: InMemoryInbox,
    pub(crate) publisher: Arc<dyn Sender>,
    manager: ManagerClient,
    /// How many events were published.
    pub(crate) published: u8,
}

impl<'s> World<'s> {
    pub(crate) fn new(scenario: &'s Scenario) -> Self {
        let clock = ManualClock::default();
        let options = BrokerOptions::default()
            .with_clock(clock.clone())
            .with_lock_duration(A_DAY)
            .with_settlement_bound(A_DAY)
            .with_delivery_limit(None)
            .without_log();
        let options = match scenario.atomic_sessions {
            true => options,
            false => options.without_atomic_sessions(),
        };
        let broker = InMemoryBroker::with_options(options);
        broker.declare(ENDPOINT);
        let outside = broker.connect();
        let (gate, oracle) = (Gate::default(), Oracle::new(scenario));
        let publisher = now(outside.sender(&Address::from(ENDPOINT))).expect("it is declared");
        broker.add_hook(BrokerSteps {
            gate: gate.clone(),
            oracle: oracle.clone(),
            broker: broker.clone(),
            outside: outside.process(),
        });
        let mut world = Self {
            scenario,
            gate,
            oracle,
            broker,
            processes: Vec::new(),
            inbox: InMemoryInbox::with_clock(clock.clone()),
            clock,
            manager: ManagerClient::new(ENDPOINT, Arc::clone(&publisher)),
            publisher,
            published: 0,
        };
        if scenario.deferred > 0 {
            defer(&mut world, &outside);
        }
        for _ in 0..scenario.waiting {
            world.publish();
        }
        for _ in 0..scenario.receivers {
            world.start();
        }
        world
    }

    /// Starts one more process.
    fn start(&mut self) {
        let transport = self.broker.connect();
        let id = transport.process();
        let handler = Handler {
            gate: self.gate.clone(),
            oracle: self.oracle.clone(),
            process: id,
            transaction: (self.scenario.inbox == InboxKind::Transaction).then(|| {
                Inbox::new(ENDPOINT, self.inbox.clone()).expect("the endpoint is a usable name")
            }),
        };
        let mut builder = Subscriber::builder(ENDPOINT)
            .clock(self.clock.clone())
            .session_idle(match self.scenario.receivers {
                1 => A_DAY,
                _ => RETRY_DELAY / 2,
            })
            .handle_with(handler, EVENT_TYPE, play);
        if self.scenario.retries > 0 {
            let policy = RetryPolicy::fixed(RETRY_DELAY).max_retries(self.scenario.retries);
            builder = builder.retry(policy);
        }
        if self.scenario.inbox != InboxKind::None {
            builder = builder.inbox(InboxSetup::new(InboxSteps {
                records: self.inbox.clone(),
                gate: self.gate.clone(),
                oracle: self.oracle.clone(),
                process: id,
                at_once: self.scenario.inbox != InboxKind::Apart,
            }));
        }
        let subscriber = builder
            .build(transport.clone())
            .expect("the configuration is complete");
        let process = Process::start(transport, move || {
            tokio::spawn(subscriber.run(std::future::pending()));
        });
        process.settle();
        self.processes.push(process);
    }

    /// Lets every process run until all that it wants to do waits at the gate.
    pub(crate) fn settle(&self) {
        for process in &self.processes {
            process.settle();
        }
    }

    /// Kills a process where it stands, has its locks run out, and starts another.
    pub(crate) fn crash(&mut self, id: ProcessId) {
        self.oracle.died(id);
        self.broker.kill(id);
        // What its tasks do when they are dropped has no effect any more.
        self.processes.retain(|process| process.id() != id);
        self.broker.expire_locks_of(id);
        self.start();
        self.settle();
    }

    /// Lets the lock on a session run out, whose holder goes on.
    pub(crate) fn expire(&mut self, id: ProcessId) {
        self.oracle.expired(id);
        self.broker.expire_locks_of(id);
        self.settle();
    }

    /// The next event that is not published yet.
    pub(crate) fn unpublished(&self) -> Option<Event> {
        (self.published < self.scenario.events()).then_some(Event(self.published))
    }

    pub(crate) fn publish(&mut self) {
        let event = Event(self.published);
        self.published += 1;
        self.send(event);
    }

    /// Publishes an event, once more where it was published before.
    pub(crate) fn send(&self, event: Event) {
        let message = self.message(event);
        now(self.publisher.send(vec![message])).expect("the broker takes it");
    }

    fn message(&self, event: Event) -> Envelope {
        let anonymous = self.scenario.anonymous;
        let kind = self.oracle.known().fates[event.index()].kind;
        EventRequest::new(kind.event_type(), &())
            .expect("nothing is easy to write")
            .with_message_id(event.message_id())
            .with_event_id(event.id())
            .with_session(self.session_of(event).as_str())
            .with_headers(|headers| {
                if anonymous {
                    headers.message_id = None;
                }
                if kind == EventKind::Returned {
                    headers.message_type = MessageType::UnsupportedResponse;
                }
            })
            .to(ENDPOINT)
    }

    pub(crate) fn command(&self, command: Command, event: Event) {
        let session = self.session_of(event);
        let about = EventReference::new(session.as_str(), event.id());
        let manager = &self.manager;
        let sent = match command {
            Command::Resubmit => now(manager.resubmit(
                &about,
                EventContent {
                    event_type_id: Some(EVENT_TYPE.to_owned()),
                    event_json: Some("null".to_owned()),
                },
            )),
            Command::Skip => now(manager.skip(&about)),
            Command::CompleteHandoff => now(manager.complete_handoff(&about)),
            Command::FailHandoff => now(manager.fail_handoff(&about, "no luck")),
            Command::Drain => now(manager.drain(&session)),
        };
        sent.expect("the broker takes it");
    }

    /// How long it takes until something is due by itself.
    pub(crate) fn due_in(&self) -> Option<Duration> {
        let scheduled = self.broker.scheduled(ENDPOINT).first().map(|(due, _)| *due);
        let messages = self.broker.messages(ENDPOINT);
        let held = messages.iter().filter_map(|message| match message.status {
            MessageStatus::HeldUntil(until) => Some(until),
            _ => None,
        });
        let next: Option<Timestamp> = held.chain(scheduled).min();
        let now = self.broker.now();
        next.map(|next| next.saturating_duration_since(now))
    }

    /// Moves all clocks.
    pub(crate) fn pass_time(&self, by: Duration) {
        self.clock.advance(by);
        for process in &self.processes {
            process.advance(by);
        }
        self.broker.clock_moved();
        self.settle();
    }

    pub(crate) fn session_of(&self, event: Event) -> SessionId {
        session(self.oracle.known().fates[event.index()].session)
    }

    pub(crate) fn state(&self, number: u8) -> SessionState {
        self.broker.session_state(ENDPOINT, &session(number))
    }
}

impl Drop for World<'_> {
    fn drop(&mut self) {
        for process in &self.processes {
            self.broker.kill(process.id());
        }
        // The hook holds the broker.
        self.broker.clear_hooks();
    }
}

pub(crate) fn session(number: u8) -> SessionId {
    SessionId::new(format!("s{number}")).expect("the name is not empty")
}

/// The outcome of a call that waits for nothing.
pub(crate) fn now<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never()
        .expect("nothing holds a call from outside")
}
