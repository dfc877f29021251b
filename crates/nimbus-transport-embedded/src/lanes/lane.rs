use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{
    Delivery, Lane, LaneLock, Receipt, SessionId, SessionStore, TransportError,
};
use tokio::sync::watch;
use tokio::time::Instant;

use super::lock::{EmbeddedLock, SharedLock};
use super::name::LaneName;
use super::settler::{EmbeddedSettler, Place};
use crate::address::QueueId;
use crate::error::Doing;
use crate::line::{self, Buried, Held, Taken, Taking, Took};
use crate::sessions::EmbeddedSessions;
use crate::shared::Shared;

/// One session, or one message without a session, locked for this receiver.
#[derive(Debug)]
pub(super) struct EmbeddedLane {
    shared: Arc<Shared>,
    queue: QueueId,
    lock: Arc<EmbeddedLock>,
    changes: watch::Receiver<u64>,
}

impl EmbeddedLane {
    pub(super) fn new(
        shared: Arc<Shared>,
        queue: QueueId,
        held: Held,
        name: LaneName,
        until: i64,
    ) -> Self {
        Self {
            changes: shared.watch(queue),
            lock: EmbeddedLock::start(Arc::clone(&shared), held, name, until),
            queue,
            shared,
        }
    }

    async fn take(&self) -> Result<Took, TransportError> {
        let (queue, held) = (self.queue, self.lock.held());
        let limit = self.shared.options.delivery_limit;
        let taking = self
            .shared
            .write(Doing("receiving from", self.lock.name()), move |tx, now| {
                line::take(tx, queue, held, now.unix_ticks(), limit)
            })
            .await?;
        Ok(self.report(taking))
    }

    /// Tells which messages were dead-lettered, now that this is committed.
    fn report(&self, taking: Taking) -> Took {
        for Buried {
            sequence,
            reason,
            description,
        } in taking.buried
        {
            tracing::warn!(
                endpoint = %self.lock.name().queue,
                session = ?self.lock.name().session,
                sequence,
                reason,
                description,
                "a message went to the dead-letter queue instead of being delivered; look at it \
                 there and resubmit or purge it"
            );
        }
        taking.took
    }

    /// Waits until receiving may find something, or `deadline`.
    async fn wait(
        &mut self,
        mut until: Option<i64>,
        deadline: Instant,
    ) -> Result<(), TransportError> {
        let (queue, held) = (self.queue, self.lock.held());
        while until.is_none_or(|at| at > self.shared.now().unix_ticks()) {
            let pause = self.shared.pause(&mut self.changes, until);
            if tokio::time::timeout_at(deadline, pause).await.is_err() {
                return Ok(());
            }
            let now = self.shared.now().unix_ticks();
            until = self
                .shared
                .read(Doing("looking into", self.lock.name()), move |tx| {
                    line::lane_outlook(tx, queue, held, now)
                })
                .await?;
        }
        Ok(())
    }

    fn deliver(&self, taken: Taken, place: Place) -> Delivery {
        let settler = EmbeddedSettler {
            shared: Arc::clone(&self.shared),
            queue: self.queue,
            lock: Arc::clone(&self.lock),
            place,
            sequence: taken.sequence,
            delivery_count: taken.delivery_count,
            has_session: self.lock.name().session.is_some(),
        };
        Delivery {
            envelope: taken.envelope,
            delivery_count: taken.delivery_count,
            enqueued_at: Some(Timestamp::from_unix_ticks(taken.enqueued_at)),
            sequence_number: Some(taken.sequence),
            receipt: Receipt::new(settler, &self.shared.settlements),
        }
    }
}

#[async_trait]
impl Lane for EmbeddedLane {
    async fn receive(&mut self, wait: Duration) -> Result<Option<Delivery>, TransportError> {
        let start = Instant::now();
        // So far off that the sum overflows is for ever.
        let deadline = start.checked_add(wait).unwrap_or_else(|| start + FOREVER);
        loop {
            self.changes.mark_unchanged();
            let until = match self.take().await? {
                Took::Message(taken) => return Ok(Some(self.deliver(*taken, Place::Head))),
                Took::LockLost => return Err(self.lock.is_lost("a message was received")),
                Took::Nothing(until) => until,
            };
            if Instant::now() >= deadline {
                return Ok(None);
            }
            self.wait(until, deadline).await?;
        }
    }

    async fn receive_deferred(
        &mut self,
        session: &SessionId,
        sequence_number: i64,
    ) -> Result<Option<Delivery>, TransportError> {
        if self.lock.name().session.as_ref() != Some(session) {
            return Ok(None);
        }
        let (queue, held, session) = (self.queue, self.lock.held(), session.clone());
        let doing = Doing("fetching a deferred message of", self.lock.name());
        let taking = self
            .shared
            .write(doing, move |tx, now| {
                let now = now.unix_ticks();
                line::take_deferred(tx, queue, held, session.as_str(), sequence_number, now)
            })
            .await?;
        match self.report(taking) {
            Took::Message(taken) => Ok(Some(self.deliver(*taken, Place::Aside))),
            Took::Nothing(_) => Ok(None),
            Took::LockLost => Err(self.lock.is_lost("a deferred message was received")),
        }
    }

    fn lock(&self) -> Arc<dyn LaneLock> {
        Arc::new(SharedLock(Arc::clone(&self.lock)))
    }

    fn sessions(&self) -> Option<Arc<dyn SessionStore>> {
        Some(Arc::new(EmbeddedSessions::new(
            Arc::clone(&self.shared),
            self.queue,
            self.lock.held(),
        )))
    }

    async fn release(self: Box<Self>) -> Result<(), TransportError> {
        self.lock.released();
        let held = self.lock.held();
        let was_held = self
            .shared
            .write(Doing("releasing", self.lock.name()), move |tx, now| {
                line::release(tx, held, now.unix_ticks())
            })
            .await?;
        self.shared.changed(self.queue);
        if was_held {
            Ok(())
        } else {
            Err(self.lock.is_lost("it was released"))
        }
    }
}

const FOREVER: Duration = Duration::from_secs(365 * 24 * 60 * 60);
