//! Sending to a queue or a topic.

use std::sync::Arc;

use async_trait::async_trait;
use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{Address, Envelope, ScheduledId, Sender, TransportError};
use nimbus_sqlite::rusqlite::{self, Connection};

use crate::address::{self, QueueId, Unroutable};
use crate::error::{Doing, invalid};
use crate::line::{self, Arrival};
use crate::message::{Limits, StoredEnvelope};
use crate::shared::Shared;

/// Sends to one address, in one transaction for each call.
#[derive(Debug)]
pub(crate) struct EmbeddedSender {
    shared: Arc<Shared>,
    address: Arc<str>,
}

/// A message and the queues that get a copy of it.
type Routed<'a> = (&'a StoredEnvelope, Vec<QueueId>);

impl EmbeddedSender {
    pub(crate) fn new(shared: Arc<Shared>, address: &Address) -> Self {
        Self {
            shared,
            address: address.as_str().into(),
        }
    }

    fn admit(&self, messages: Vec<Envelope>) -> Result<Vec<StoredEnvelope>, TransportError> {
        let limits = Limits::of(&self.shared.options);
        messages
            .into_iter()
            .map(|message| limits.admit(message))
            .collect()
    }
}

#[async_trait]
impl Sender for EmbeddedSender {
    async fn send(&self, messages: Vec<Envelope>) -> Result<(), TransportError> {
        if messages.is_empty() {
            return Ok(());
        }
        let messages = self.admit(messages)?;
        let address = Arc::clone(&self.address);
        let reached = self
            .shared
            .write(Doing("sending to", &*self.address), move |tx, now| {
                let now = now.unix_ticks();
                match route(tx, &address, &messages)? {
                    Ok(routed) => enqueue_all(tx, &routed, now).map(Ok),
                    Err(unroutable) => Ok(Err(unroutable)),
                }
            })
            .await?
            .map_err(|unroutable| unroutable.into_error(&self.address))?;
        for queue in reached {
            self.shared.changed(queue);
        }
        Ok(())
    }

    async fn schedule(
        &self,
        message: Envelope,
        due: Timestamp,
    ) -> Result<ScheduledId, TransportError> {
        let messages = self.admit(vec![message])?;
        let address = Arc::clone(&self.address);
        let (schedule, reached) = self
            .shared
            .write(Doing("scheduling for", &*self.address), move |tx, now| {
                let routed = match route(tx, &address, &messages)? {
                    Ok(routed) => routed,
                    Err(unroutable) => return Ok(Err(unroutable)),
                };
                let (now, due) = (now.unix_ticks(), due.unix_ticks());
                let (mut schedule, mut reached) = (None, Vec::new());
                for (message, queues) in routed {
                    for queue in queues {
                        let id = line::schedule(tx, queue, message, now, due, schedule)?;
                        schedule = Some(id);
                        reached.push(queue);
                    }
                }
                Ok(Ok((schedule.unwrap_or_default(), reached)))
            })
            .await?
            .map_err(|unroutable| unroutable.into_error(&self.address))?;
        for queue in reached {
            self.shared.changed(queue);
        }
        Ok(ScheduledId(schedule.to_string()))
    }

    async fn cancel_scheduled(&self, id: &ScheduledId) -> Result<bool, TransportError> {
        let schedule: i64 = id.0.parse().map_err(|_| {
            invalid(format!(
                "{:?} is not the id of a message that the embedded queue scheduled",
                id.0
            ))
        })?;
        self.shared
            .write("cancelling a schedule", move |tx, now| {
                line::cancel(tx, schedule, now.unix_ticks())
            })
            .await
    }
}

/// Where each message goes. Asked for all of them before the first is stored, since what a
/// closure of the writer stored is kept unless it fails.
fn route<'a>(
    db: &Connection,
    address: &str,
    messages: &'a [StoredEnvelope],
) -> rusqlite::Result<Result<Vec<Routed<'a>>, Unroutable>> {
    let route = match address::resolve(db, address)? {
        Ok(route) => route,
        Err(unroutable) => return Ok(Err(unroutable)),
    };
    Ok(messages
        .iter()
        .map(|message| Ok((message, route.queues(message.envelope())?)))
        .collect())
}

/// Stores the messages in order and returns the queues they reached.
fn enqueue_all(db: &Connection, routed: &[Routed<'_>], now: i64) -> rusqlite::Result<Vec<QueueId>> {
    let mut reached: Vec<QueueId> = Vec::new();
    for (message, queues) in routed {
        for queue in queues {
            if !reached.contains(queue) {
                // What was due before now stands before what is sent now.
                line::activate(db, *queue, now)?;
                reached.push(*queue);
            }
            let arrival = Arrival {
                queue: *queue,
                message,
                at: now,
            };
            line::enqueue(db, arrival)?;
        }
    }
    Ok(reached)
}
