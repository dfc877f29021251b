use std::sync::Arc;

use nimbus_messaging::{
    Address, Envelope, ParkedCopy, SessionId, TransportError, TransportErrorKind, VersionedState,
};

use super::{DeadLetter, QueueCounts, aside, counts, line};
use crate::address::{self, QueueId};
use crate::sessions;
use crate::shared::Shared;

/// Looks into the queues of one file, and moves messages by hand.
///
/// For tools, demonstrations and tests; a receiver uses lanes. Every method fails as the file
/// does, and with [`Unroutable`](TransportErrorKind::Unroutable) for an address without a queue.
#[derive(Debug, Clone)]
pub struct Inspector {
    pub(super) shared: Arc<Shared>,
}

impl Inspector {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared }
    }

    /// What every queue holds, by name.
    ///
    /// # Errors
    ///
    /// [`TransportError`], transient or configuration.
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn queues(&self) -> Result<Vec<QueueCounts>, TransportError> {
        let now = self.shared.now().unix_ticks();
        self.shared
            .read("counting messages", move |tx| counts::counts(tx, None, now))
            .await
    }

    /// What one queue holds.
    ///
    /// # Errors
    ///
    /// As the type says.
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn queue(&self, address: impl Into<Address>) -> Result<QueueCounts, TransportError> {
        let address = address.into();
        let queue = self.find(&address).await?;
        let now = self.shared.now().unix_ticks();
        self.shared
            .read("counting messages", move |tx| {
                counts::counts(tx, Some(queue), now)
            })
            .await?
            .pop()
            .ok_or_else(|| unknown(&address))
    }

    /// The first `limit` messages that stand in line or are being handled, in the order they were
    /// sent, across all sessions.
    ///
    /// # Errors
    ///
    /// As the type says.
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn messages(
        &self,
        address: impl Into<Address>,
        limit: u32,
    ) -> Result<Vec<Envelope>, TransportError> {
        let queue = self.find(&address.into()).await?;
        self.shared
            .read("listing messages", move |tx| {
                line::messages(tx, queue, limit)
            })
            .await
    }

    /// Receives and completes up to `limit` messages that are due and that nobody holds, in one
    /// transaction. Each session's messages are together, in their order.
    ///
    /// # Errors
    ///
    /// As the type says; then nothing was taken, unless the text says that it may have been.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the messages may be gone: use it where that is no loss.
    pub async fn drain(
        &self,
        address: impl Into<Address>,
        limit: u32,
    ) -> Result<Vec<Envelope>, TransportError> {
        let queue = self.find(&address.into()).await?;
        let drained = self
            .shared
            .write("draining a queue", move |tx, now| {
                line::drain(tx, queue, now, limit)
            })
            .await?;
        self.shared.changed(queue);
        Ok(drained)
    }

    /// The first `limit` messages of the dead-letter queue, in the order they were sent.
    ///
    /// # Errors
    ///
    /// As the type says.
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn dead_letters(
        &self,
        address: impl Into<Address>,
        limit: u32,
    ) -> Result<Vec<DeadLetter>, TransportError> {
        let queue = self.find(&address.into()).await?;
        self.shared
            .read("listing dead letters", move |tx| {
                aside::dead_letters(tx, queue, limit)
            })
            .await
    }

    /// Sends a dead letter again, to the end of its session's line, with the id it had and as if it
    /// had never been delivered; `false` when there is none of that number.
    ///
    /// # Errors
    ///
    /// As the type says.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been moved or not, never lost.
    pub async fn resubmit(
        &self,
        address: impl Into<Address>,
        sequence_number: i64,
    ) -> Result<bool, TransportError> {
        let queue = self.find(&address.into()).await?;
        let moved = self
            .shared
            .write("resubmitting a dead letter", move |tx, now| {
                aside::resubmit(tx, queue, sequence_number, now.unix_ticks())
            })
            .await?;
        self.shared.changed(queue);
        Ok(moved)
    }

    /// Deletes the dead letters of a queue and tells how many there were.
    ///
    /// # Errors
    ///
    /// As the type says.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have deleted all or none.
    pub async fn purge_dead_letters(
        &self,
        address: impl Into<Address>,
    ) -> Result<usize, TransportError> {
        let queue = self.find(&address.into()).await?;
        self.shared
            .write("purging dead letters", move |tx, _| aside::purge(tx, queue))
            .await
    }

    /// The state of a session, without disturbing who holds it.
    ///
    /// # Errors
    ///
    /// As the type says.
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn session(
        &self,
        address: impl Into<Address>,
        session: &SessionId,
    ) -> Result<VersionedState, TransportError> {
        let queue = self.find(&address.into()).await?;
        let key = session.clone();
        let stored = self
            .shared
            .read("reading a session's state", move |tx| {
                sessions::stored_state(tx, queue, &key)
            })
            .await?;
        sessions::versioned(session, stored)
    }

    /// The first `limit` parked copies of a session, in their order.
    ///
    /// # Errors
    ///
    /// As the type says.
    ///
    /// # Cancel safety
    ///
    /// Changes nothing.
    pub async fn parked(
        &self,
        address: impl Into<Address>,
        session: &SessionId,
        limit: u32,
    ) -> Result<Vec<ParkedCopy>, TransportError> {
        let queue = self.find(&address.into()).await?;
        let session = session.clone();
        self.shared
            .read("reading parked messages", move |tx| {
                sessions::parked(tx, queue, &session, limit)
            })
            .await
    }

    pub(super) async fn find(&self, address: &Address) -> Result<QueueId, TransportError> {
        let name = address.as_str().to_owned();
        self.shared
            .read("looking for a queue", move |tx| address::find(tx, &name))
            .await?
            .ok_or_else(|| unknown(address))
    }
}

fn unknown(address: &Address) -> TransportError {
    TransportError::new(
        TransportErrorKind::Unroutable,
        format!(
            "no queue {:?} is declared in the embedded queue",
            address.as_str()
        ),
    )
}
