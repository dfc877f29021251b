use nimbus_inbox_core::{Inbox, InboxSetup};
use nimbus_inbox_testing::{Fault, FaultyStore, InMemoryTransport, When};
use nimbus_subscriber::{
    HandlerContext, Health, RunReport, Subscriber, SubscriberBuilder, SubscriberError,
};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::strike::SUSPENSION;
use super::{ENDPOINT, EVENT_TYPE, OrderPlaced, Strike, World};

/// A process that may run a subscriber, and die.
///
/// Once it is dead its store calls and handlers go no further, as its calls to the broker don't.
pub(crate) struct Process {
    pub(crate) transport: InMemoryTransport,
    pub(crate) store: FaultyStore,
    dead: CancellationToken,
}

impl Process {
    pub(super) fn new(world: &World) -> Self {
        let dead = CancellationToken::new();
        let store = FaultyStore::new(world.inbox.clone());
        let of_the_dead = dead.clone();
        store.inject(
            When::any().matching(move |_| of_the_dead.is_cancelled()),
            Fault::hang(),
        );
        Self {
            transport: world.broker.connect(),
            store,
            dead,
        }
    }

    /// A subscriber that plays the world's script, with the inbox.
    pub(crate) fn builder(&self, world: &World) -> SubscriberBuilder {
        self.builder_without_inbox(world)
            .inbox(InboxSetup::new(self.store.clone()))
    }

    pub(crate) fn builder_without_inbox(&self, world: &World) -> SubscriberBuilder {
        let state = (world.script.clone(), self.dead.clone());
        Subscriber::builder(ENDPOINT)
            .clock(world.clock)
            .handle_with(
                state,
                EVENT_TYPE,
                async |(script, dead), event: OrderPlaced, context| {
                    tokio::select! {
                        biased;
                        () = dead.cancelled() => std::future::pending().await,
                        ended = script.play(event, context) => ended,
                    }
                },
            )
    }

    /// As [`builder`](Self::builder), with the script's effects in the transaction that records
    /// the message.
    pub(crate) fn claiming(&self, world: &World) -> SubscriberBuilder {
        self.claiming_without_inbox(world)
            .inbox(InboxSetup::new(self.store.clone()))
    }

    pub(crate) fn claiming_without_inbox(&self, world: &World) -> SubscriberBuilder {
        let inbox = Inbox::new(ENDPOINT, self.store.clone()).unwrap();
        let state = (world.script.clone(), self.dead.clone(), inbox);
        Subscriber::builder(ENDPOINT)
            .clock(world.clock)
            .handle_with(
                state,
                EVENT_TYPE,
                async |(script, dead, inbox), event: OrderPlaced, context: HandlerContext| {
                    let handling = context.clone();
                    let work = context.process_in(&inbox, (), async |tx| {
                        script.play_in(tx, event, handling).await
                    });
                    tokio::select! {
                        biased;
                        () = dead.cancelled() => std::future::pending().await,
                        ended = work => ended,
                    }
                },
            )
    }

    /// Plans the death of this process at its nth effect point; `None` only counts.
    pub(crate) fn plan_crash(&self, world: &World, at: Option<u64>) -> Strike {
        let (dead, transport) = (self.dead.clone(), self.transport.clone());
        let kill = Box::new(move || kill(&dead, &transport));
        let strike = Strike::new(at, self.transport.process(), true, kill);
        self.watched_by(world, strike)
    }

    /// Plans to do something at the nth effect point, and goes on then.
    pub(crate) fn plan(
        &self,
        world: &World,
        at: u64,
        action: impl Fn() + Send + Sync + 'static,
    ) -> Strike {
        let process = self.transport.process();
        let strike = Strike::new(Some(at), process, false, Box::new(action));
        // Every call suspends, so that whatever the action interrupts can be cut off there.
        for delay in [
            Fault::delay(SUSPENSION),
            Fault::delay(SUSPENSION).after_effect(),
        ] {
            self.store.inject(When::any(), delay);
        }
        self.watched_by(world, strike)
    }

    fn watched_by(&self, world: &World, strike: Strike) -> Strike {
        world.broker.add_hook(strike.clone());
        strike.watch(&self.store);
        strike
    }

    pub(crate) fn start(&self, builder: SubscriberBuilder) -> Running {
        let subscriber = builder.build(self.transport.clone()).unwrap();
        let health = subscriber.health();
        let stop = CancellationToken::new();
        let stopped = stop.clone().cancelled_owned();
        Running {
            task: tokio::spawn(subscriber.run(stopped)),
            stop,
            health,
            transport: self.transport.clone(),
            dead: self.dead.clone(),
        }
    }
}

/// A subscriber that runs in a task.
pub(crate) struct Running {
    pub(crate) task: JoinHandle<Result<RunReport, SubscriberError>>,
    pub(crate) stop: CancellationToken,
    pub(crate) health: Health,
    transport: InMemoryTransport,
    dead: CancellationToken,
}

impl Running {
    /// Asks it to stop and waits for its report.
    pub(crate) async fn stop(self) -> RunReport {
        self.stop.cancel();
        self.task.await.unwrap().unwrap()
    }

    pub(crate) fn is_dead(&self) -> bool {
        self.dead.is_cancelled()
    }

    /// Kills the process where it stands.
    pub(crate) fn kill(&self) {
        kill(&self.dead, &self.transport);
        self.task.abort();
    }

    /// The run is dropped where it stands, in a process that lives on.
    pub(crate) fn drop_run(&self) {
        self.task.abort();
    }
}

fn kill(dead: &CancellationToken, transport: &InMemoryTransport) {
    dead.cancel();
    transport.broker().kill(transport.process());
}
