use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use fastrand::Rng;
use nimbus_inbox_testing::{
    BrokerCall, BrokerHook, BrokerOperation, BrokerPoint, Fault, ProcessId, StoreCall, When,
};
use nimbus_messaging::{MessageType, TransportError, property};
use tokio_util::sync::CancellationToken;

use super::{Process, World};

type Matches = Box<dyn Fn(&BrokerCall) -> bool + Send + Sync>;
type Effect = Box<dyn Fn() -> Result<(), TransportError> + Send + Sync>;

/// Fails or holds the calls that match, at one point.
pub(crate) struct Disturb {
    point: BrokerPoint,
    matches: Matches,
    skip: Mutex<u64>,
    left: Mutex<u64>,
    effect: Effect,
    until: CancellationToken,
}

impl Disturb {
    /// Every call of this operation fails as transient before its effect.
    pub(crate) fn calls(operation: BrokerOperation) -> Self {
        let until = CancellationToken::new();
        until.cancel();
        Self {
            point: BrokerPoint::Before,
            matches: Box::new(move |call| call.operation == operation),
            skip: Mutex::new(0),
            left: Mutex::new(u64::MAX),
            effect: Box::new(|| Err(TransportError::transient("injected by a test"))),
            until,
        }
    }

    /// Only the first `count` of them.
    pub(crate) fn first(mut self, count: u64) -> Self {
        self.left = Mutex::new(count);
        self
    }

    /// Only those after the first `count`.
    pub(crate) fn after(mut self, count: u64) -> Self {
        self.skip = Mutex::new(count);
        self
    }

    /// At another point.
    pub(crate) fn at(mut self, point: BrokerPoint) -> Self {
        self.point = point;
        self
    }

    /// With another error.
    pub(crate) fn error(mut self, error: fn() -> TransportError) -> Self {
        self.effect = Box::new(move || Err(error()));
        self
    }

    /// Does something instead of failing the call.
    pub(crate) fn run(mut self, effect: impl Fn() + Send + Sync + 'static) -> Self {
        self.effect = Box::new(move || {
            effect();
            Ok(())
        });
        self
    }

    /// Holds the call until the token is cancelled, and lets it go on then.
    pub(crate) fn hold(mut self, until: &CancellationToken) -> Self {
        self.until = until.clone();
        self.effect = Box::new(|| Ok(()));
        self
    }

    /// Only those that carry a message of this type.
    pub(crate) fn of_type(self, message_type: MessageType) -> Self {
        self.matching(move |call| carries(call, message_type))
    }

    /// Only those of this process.
    pub(crate) fn of(self, process: ProcessId) -> Self {
        self.matching(move |call| call.process == process)
    }

    fn matching(mut self, also: impl Fn(&BrokerCall) -> bool + Send + Sync + 'static) -> Self {
        let earlier = self.matches;
        self.matches = Box::new(move |call| earlier(call) && also(call));
        self
    }

    fn strikes(&self, point: BrokerPoint, call: &BrokerCall) -> bool {
        if point != self.point || !(self.matches)(call) {
            return false;
        }
        take_one(&self.skip) == 0 && take_one(&self.left) > 0
    }
}

/// Counts down to zero, and returns what there was.
fn take_one(count: &Mutex<u64>) -> u64 {
    let mut count = count.lock().unwrap();
    let there_was = *count;
    *count = there_was.saturating_sub(1);
    there_was
}

fn carries(call: &BrokerCall, message_type: MessageType) -> bool {
    call.messages.iter().any(|message| {
        let name = message.properties.text(property::MESSAGE_TYPE);
        name.is_some_and(|name| name == message_type.as_str())
    })
}

impl std::fmt::Debug for Disturb {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Disturb")
    }
}

#[async_trait]
impl BrokerHook for Disturb {
    async fn reach(&self, point: BrokerPoint, call: &BrokerCall) -> Result<(), TransportError> {
        if self.strikes(point, call) {
            self.until.cancelled().await;
            return (self.effect)();
        }
        Ok(())
    }
}

/// Counts calls as they arrive, whether or not they succeed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Calls(Arc<Mutex<BTreeMap<BrokerOperation, u64>>>);

impl Calls {
    /// Counts from now on.
    pub(crate) fn count(world: &World) -> Self {
        let calls = Self::default();
        world.broker.add_hook(calls.clone());
        calls
    }

    pub(crate) fn of(&self, operation: BrokerOperation) -> u64 {
        let counts = self.0.lock().unwrap();
        counts.get(&operation).copied().unwrap_or(0)
    }
}

#[async_trait]
impl BrokerHook for Calls {
    async fn reach(&self, point: BrokerPoint, call: &BrokerCall) -> Result<(), TransportError> {
        if point == BrokerPoint::Called {
            let mut counts = self.0.lock().unwrap();
            let count = counts.entry(call.operation).or_default();
            *count += 1;
            // On paused time a busy loop would never end.
            assert!(*count < 100_000, "a busy loop of {:?}", call.operation);
        }
        Ok(())
    }
}

/// The effects of a process on broker and store in order, and what handlers add to them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Journal(Arc<Mutex<Vec<String>>>);

impl Journal {
    pub(crate) fn keep(world: &World, process: &Process) -> Self {
        let journal = Self::default();
        world.broker.add_hook(JournalHook {
            journal: journal.clone(),
            process: process.transport.process(),
        });
        let noting = journal.clone();
        let note = When::any().matching(move |call| {
            // A cleanup comes at a random time.
            if matches!(call, StoreCall::Check(_) | StoreCall::Record(_)) {
                noting.note(call.operation().as_str());
            }
            false
        });
        process.store.inject(note, Fault::hang());
        journal
    }

    pub(crate) fn note(&self, what: &str) {
        self.0.lock().unwrap().push(what.to_owned());
    }

    /// What was noted since the first note of `first`, which it begins with.
    pub(crate) fn since(&self, first: &str) -> Vec<String> {
        let notes = self.0.lock().unwrap();
        let from = notes.iter().position(|note| note == first);
        from.map_or_else(Vec::new, |from| notes[from..].to_vec())
    }
}

#[derive(Debug)]
struct JournalHook {
    journal: Journal,
    process: ProcessId,
}

#[async_trait]
impl BrokerHook for JournalHook {
    async fn reach(&self, point: BrokerPoint, call: &BrokerCall) -> Result<(), TransportError> {
        if call.process != self.process || point != BrokerPoint::After {
            return Ok(());
        }
        let of = |message_type: &str| match call.operation {
            BrokerOperation::Send => Some(format!("send {message_type}")),
            BrokerOperation::Schedule => Some(format!("schedule {message_type}")),
            BrokerOperation::Complete => Some("complete".to_owned()),
            BrokerOperation::Abandon => Some("abandon".to_owned()),
            BrokerOperation::DeadLetter => Some("dead-letter".to_owned()),
            BrokerOperation::WriteState => Some("write state".to_owned()),
            BrokerOperation::Park => Some("park".to_owned()),
            BrokerOperation::Unpark => Some("unpark".to_owned()),
            BrokerOperation::Fence => Some("fence".to_owned()),
            _ => None,
        };
        let message = call.messages.first();
        let name = message.and_then(|message| message.properties.text(property::MESSAGE_TYPE));
        if let Some(note) = of(name.as_deref().unwrap_or("?")) {
            self.journal.note(&note);
        }
        Ok(())
    }
}

/// Lets every effect wait for a random time, so that other receivers come between.
#[derive(Debug)]
pub(crate) struct Sluggish {
    rng: Mutex<Rng>,
    longest: Duration,
}

impl Sluggish {
    pub(crate) fn new(seed: u64, longest: Duration) -> Self {
        Self {
            rng: Mutex::new(Rng::with_seed(seed)),
            longest,
        }
    }
}

#[async_trait]
impl BrokerHook for Sluggish {
    async fn reach(&self, point: BrokerPoint, _: &BrokerCall) -> Result<(), TransportError> {
        if matches!(point, BrokerPoint::Before | BrokerPoint::Between) {
            let share = self.rng.lock().unwrap().f64();
            tokio::time::sleep(self.longest.mul_f64(share)).await;
        }
        Ok(())
    }
}
