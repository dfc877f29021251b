use std::sync::Arc;

use nimbus_inbox_testing::ProcessId;
use nimbus_messaging::{Envelope, MessageType, property};
use tokio::task::Id as TaskId;

use super::Oracle;
use crate::event::{Event, HEARTBEAT};
use crate::outcome::Outcome;

/// A message in the hands of a process.
#[derive(Debug)]
pub(super) struct Delivery {
    pub(super) number: usize,
    pub(super) process: ProcessId,
    /// The task that processes it, once it has done something.
    task: Option<TaskId>,
    pub(super) kind: MessageType,
    /// It asks whether the endpoint is alive.
    pub(super) heartbeat: bool,
    /// When it, or the copy that it has taken from where it waited, was received.
    pub(super) since: u64,
    message_id: Option<String>,
    /// It was delivered before.
    pub(super) redelivered: bool,
    /// Its own id was on record when it was received.
    pub(super) on_record: bool,
    /// When it was last looked for in the inbox.
    pub(super) checked: Option<u64>,
    /// The source id of the event whose handler it ran last.
    pub(super) source: Option<String>,
    /// The last handler it ran.
    pub(super) played: Option<(Event, Outcome)>,
    /// That handler's event blocked the session when it began.
    pub(super) began_blocking: bool,
    /// When its lock ran out.
    pub(super) stale: bool,
    pub(super) stale_since: u64,
}

/// All messages that processes took.
#[derive(Debug, Default)]
pub(super) struct Deliveries {
    all: Vec<Delivery>,
    dead: Vec<ProcessId>,
}

impl Deliveries {
    /// What the current task of a process works on: its own delivery, or the one that was received
    /// last and that no task has touched.
    pub(super) fn current(&mut self, process: ProcessId) -> Option<&mut Delivery> {
        let task = tokio::task::try_id();
        let of = |one: &Delivery, task: Option<TaskId>| one.process == process && one.task == task;
        let own = self.all.iter().rposition(|one| of(one, task));
        let index = own.or_else(|| self.all.iter().rposition(|one| of(one, None)))?;
        let delivery = &mut self.all[index];
        delivery.task = task;
        Some(delivery)
    }

    /// The last delivery of a message to a process.
    pub(super) fn last_of(&self, process: ProcessId, id: Option<&str>) -> Option<&Delivery> {
        let of_message =
            |one: &&Delivery| one.process == process && one.message_id.as_deref() == id;
        self.all.iter().rfind(of_message)
    }

    /// Whether any process died.
    pub(super) fn any_died(&self) -> bool {
        !self.dead.is_empty()
    }

    pub(super) fn has_died(&self, process: ProcessId) -> bool {
        self.dead.contains(&process)
    }

    pub(super) fn died(&mut self, process: ProcessId) {
        self.dead.push(process);
    }

    pub(super) fn expired(&mut self, process: ProcessId, now: u64) {
        for delivery in self.all.iter_mut().filter(|one| one.process == process) {
            if !delivery.stale {
                delivery.stale = true;
                delivery.stale_since = now;
            }
        }
    }
}

impl Oracle {
    /// A process received a message.
    pub(crate) fn received(&self, process: ProcessId, message: &Arc<Envelope>) {
        let kind = message.properties.text(property::MESSAGE_TYPE);
        let event_type = message.properties.text(property::EVENT_TYPE_ID);
        let mut known = self.known();
        let since = known.tick();
        let message_id = message.message_id.clone();
        let on_record = message_id
            .as_ref()
            .is_some_and(|id| known.records.contains_key(id));
        let all = &mut known.deliveries.all;
        let redelivered = all.iter().any(|other| other.message_id == message_id);
        all.push(Delivery {
            number: all.len(),
            process,
            task: None,
            kind: kind.map_or(MessageType::Unknown, |kind| MessageType::from_wire(&kind)),
            heartbeat: event_type.as_deref() == Some(HEARTBEAT),
            since,
            message_id,
            redelivered,
            on_record,
            checked: None,
            source: None,
            played: None,
            began_blocking: false,
            stale: false,
            stale_since: 0,
        });
    }

    /// A task of a process is about to do something for its message.
    pub(crate) fn arrives(&self, process: ProcessId) {
        self.known().deliveries.current(process);
    }

    /// A process read a parked copy, which counts as received now.
    pub(crate) fn copy_read(&self, process: ProcessId) {
        let mut known = self.known();
        let now = known.tick();
        if let Some(delivery) = known.deliveries.current(process) {
            delivery.since = now;
        }
    }

    /// A process fetched a message of the older deferral for a continuation.
    pub(crate) fn resumed(&self, process: ProcessId) {
        let mut known = self.known();
        let now = known.tick();
        let continuation = known.deliveries.all.iter_mut().rfind(|delivery| {
            delivery.process == process && delivery.kind == MessageType::ContinuationRequest
        });
        if let Some(continuation) = continuation {
            continuation.since = now;
            continuation.checked = None;
            continuation.played = None;
        }
    }
}
