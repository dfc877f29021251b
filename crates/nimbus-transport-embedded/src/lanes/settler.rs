use std::sync::Arc;

use async_trait::async_trait;
use nimbus_messaging::{Settlement, Settler, TransportError, TransportErrorKind};

use super::lock::EmbeddedLock;
use crate::address::QueueId;
use crate::error::Doing;
use crate::line::{self, Settled};
use crate::shared::Shared;

/// Where the message was taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// The head of its line.
    Head,
    /// Among the deferred.
    Aside,
}

#[derive(Debug)]
pub(super) struct EmbeddedSettler {
    pub(super) shared: Arc<Shared>,
    pub(super) queue: QueueId,
    pub(super) lock: Arc<EmbeddedLock>,
    pub(super) place: Place,
    pub(super) sequence: i64,
    pub(super) delivery_count: u32,
    pub(super) has_session: bool,
}

#[async_trait]
impl Settler for EmbeddedSettler {
    async fn settle(self: Box<Self>, settlement: Settlement) -> Result<(), TransportError> {
        if settlement == Settlement::Defer && !self.has_session {
            return Err(TransportError::new(
                TransportErrorKind::Unsupported,
                "a message without a session can't be deferred, since deferred messages are \
                 fetched through their session; it is delivered again",
            ));
        }
        let (held, place) = (self.lock.held(), self.place);
        let (sequence, count) = (self.sequence, self.delivery_count);
        let settled = self
            .shared
            .write(
                Doing("settling a message of", self.lock.name()),
                move |tx, now| match place {
                    Place::Head => line::settle(tx, held, sequence, count, &settlement, now),
                    Place::Aside => {
                        line::settle_deferred(tx, held, sequence, count, &settlement, now)
                    }
                },
            )
            .await?;
        match settled {
            Settled::Done => {
                self.shared.changed(self.queue);
                Ok(())
            }
            Settled::LockLost => Err(self.lock.is_lost("the message was settled")),
        }
    }
}
