use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Address, SessionId, TransportError};
use tokio::sync::Notify;

use super::faults::{Barrier, Rule};
use super::state::{QueueRules, State};
use super::{
    BrokerCall, BrokerFault, BrokerGate, BrokerHook, BrokerOptions, BrokerPoint, BrokerWhen,
    InMemoryTransport, LoggedCall, ProcessId,
};

/// A broker in memory that a test looks into, disturbs and stops where it likes.
///
/// It is deterministic: maps are ordered, ids are counted, and time is tokio's, so a paused runtime
/// gives the same run twice. `Resolver` and `Manager` are declared from the start. Nothing of it
/// outlives its last handle; clones are handles on the same broker.
#[derive(Debug, Clone)]
pub struct InMemoryBroker {
    pub(super) shared: Arc<Shared>,
}

#[derive(Debug)]
pub(super) struct Shared {
    state: Mutex<State>,
    /// Told after every change; waiters wake in the order in which they came.
    pub(super) changed: Notify,
    hooks: Mutex<Arc<[Arc<dyn BrokerHook>]>>,
    pub(super) options: BrokerOptions,
}

impl InMemoryBroker {
    /// A broker that can do everything.
    #[must_use]
    pub fn new() -> Self {
        Self::with_options(BrokerOptions::default())
    }

    /// A broker with other options.
    #[must_use]
    pub fn with_options(options: BrokerOptions) -> Self {
        let broker = Self {
            shared: Arc::new(Shared {
                state: Mutex::default(),
                changed: Notify::new(),
                hooks: Mutex::new(Arc::new([])),
                options,
            }),
        };
        broker.declare(Address::RESOLVER);
        broker.declare(Address::MANAGER);
        broker
    }

    /// The connection of one more simulated process.
    #[must_use]
    pub fn connect(&self) -> InMemoryTransport {
        let process = self.state().next_process();
        InMemoryTransport::new(self.clone(), process)
    }

    /// Creates the queue of an endpoint or of a well-known address; one that exists is kept.
    pub fn declare(&self, address: impl Into<Address>) {
        self.state().declare(&address.into(), self.rules());
    }

    /// Lets what is sent to `topic` reach `endpoint`, which it declares. Without event types it
    /// takes every message, else those whose `EventTypeId` is one of them.
    pub fn subscribe<'a>(
        &self,
        topic: impl Into<Address>,
        endpoint: impl Into<Address>,
        event_types: impl IntoIterator<Item = &'a str>,
    ) {
        let endpoint = endpoint.into();
        self.declare(endpoint.clone());
        let event_types: BTreeSet<_> = event_types.into_iter().map(str::to_owned).collect();
        let event_types = (!event_types.is_empty()).then_some(event_types);
        self.state()
            .subscribe(&topic.into(), &endpoint, event_types);
    }

    /// Lets a process die: nothing it does from now on has an effect, its calls fail, and its locks
    /// stay until they run out.
    pub fn kill(&self, process: ProcessId) {
        self.state().kill(process);
        self.shared.changed.notify_waiters();
    }

    /// Lets every lock of a process run out at once.
    pub fn expire_locks_of(&self, process: ProcessId) {
        let now = self.now();
        for queue in self.state().queues(now) {
            queue.end_locks(|_, lock| lock.owner == process);
        }
        self.shared.changed.notify_waiters();
    }

    /// Lets the lock on a session run out at once, if there is one.
    ///
    /// # Panics
    ///
    /// When `endpoint` is not declared.
    pub fn expire_lock(&self, endpoint: impl Into<Address>, session: &SessionId) {
        self.inspect(&endpoint.into(), |queue| {
            queue.end_locks(|key, _| key.session() == Some(session));
        });
        self.shared.changed.notify_waiters();
    }

    /// Cuts every connection once: each call that waits or has an answer under way fails as
    /// transient. Locks hold, and later calls go through.
    pub fn cut_connections(&self) {
        self.state().cuts += 1;
        self.shared.changed.notify_waiters();
    }

    /// Follows a clock other than tokio's: what is due or over by now takes place.
    pub fn clock_moved(&self) {
        let now = self.now();
        self.state().catch_up(now);
        self.shared.changed.notify_waiters();
    }

    /// Adds a hook behind those that are there.
    pub fn add_hook(&self, hook: impl BrokerHook) {
        let mut hooks = self.hooks();
        let hook: Arc<dyn BrokerHook> = Arc::new(hook);
        *hooks = hooks.iter().cloned().chain([hook]).collect();
    }

    /// Lets calls that meet `when` suffer a fault, from now on.
    pub fn inject(&self, when: BrokerWhen, fault: BrokerFault) {
        self.add_hook(Rule::new(when, fault));
    }

    /// Holds calls that meet `when` at `point`, from now on.
    pub fn hold(&self, when: BrokerWhen, point: BrokerPoint) -> BrokerGate {
        let (barrier, gate) = Barrier::new(when, point);
        self.add_hook(barrier);
        gate
    }

    /// Removes all hooks, faults and gates. A call that stands in one is not freed.
    pub fn clear_hooks(&self) {
        *self.hooks() = Arc::new([]);
    }

    /// What time it is at the broker.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shared.options.clock.now()
    }

    /// Every effect so far in order, unless the broker was told to keep no log.
    #[must_use]
    pub fn log(&self) -> Vec<LoggedCall> {
        self.state().log.clone()
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.shared
            .state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn rules(&self) -> QueueRules {
        QueueRules {
            lock_duration: self.shared.options.lock_duration,
            delivery_limit: self.shared.options.delivery_limit,
        }
    }

    pub(super) async fn reach(
        &self,
        point: BrokerPoint,
        call: &BrokerCall,
    ) -> Result<(), TransportError> {
        let hooks = Arc::clone(&self.hooks());
        for hook in hooks.iter() {
            hook.reach(point, call).await?;
        }
        Ok(())
    }

    fn hooks(&self) -> MutexGuard<'_, Arc<[Arc<dyn BrokerHook>]>> {
        self.shared
            .hooks
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for InMemoryBroker {
    fn default() -> Self {
        Self::new()
    }
}
