use std::sync::Arc;

use async_trait::async_trait;
use nimbus_messaging::{Lane, LaneSource, SessionId, Stopper, TransportError};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::lane::EmbeddedLane;
use super::name::LaneName;
use crate::address::QueueId;
use crate::error::Doing;
use crate::line::{self, LockToken};
use crate::shared::Shared;

/// The lanes of one queue.
#[derive(Debug)]
pub(crate) struct EmbeddedLanes {
    shared: Arc<Shared>,
    queue: QueueId,
    name: Arc<str>,
    changes: watch::Receiver<u64>,
    stopped: CancellationToken,
}

#[derive(Debug)]
struct Stop(CancellationToken);

impl Stopper for Stop {
    fn stop(&self) {
        self.0.cancel();
    }
}

impl EmbeddedLanes {
    pub(crate) fn new(shared: Arc<Shared>, queue: QueueId, name: &str) -> Self {
        Self {
            changes: shared.watch(queue),
            shared,
            queue,
            name: name.into(),
            stopped: CancellationToken::new(),
        }
    }

    async fn try_accept(&self) -> Result<Option<EmbeddedLane>, TransportError> {
        let queue = self.queue;
        let duration = self.shared.options.lock_duration;
        let token = LockToken::random();
        let accepted = self
            .shared
            .write(Doing("accepting a lane of", &*self.name), move |tx, now| {
                let until = now.saturating_add(duration).unix_ticks();
                line::accept(tx, queue, now.unix_ticks(), until, token)
                    .map(|accepted| accepted.map(|accepted| (accepted, until)))
            })
            .await?;
        Ok(accepted.map(|(accepted, until)| {
            let name = LaneName {
                queue: Arc::clone(&self.name),
                session: accepted.session.and_then(SessionId::new),
            };
            EmbeddedLane::new(Arc::clone(&self.shared), queue, accepted.held, name, until)
        }))
    }
}

#[async_trait]
impl LaneSource for EmbeddedLanes {
    async fn accept_next(&mut self) -> Result<Option<Box<dyn Lane>>, TransportError> {
        while !self.stopped.is_cancelled() {
            self.changes.mark_unchanged();
            let queue = self.queue;
            let outlook = self
                .shared
                .read(Doing("looking for a lane of", &*self.name), move |tx| {
                    line::queue_outlook(tx, queue)
                })
                .await?;
            let now = self.shared.now().unix_ticks();
            if outlook.is_some_and(|at| at <= now)
                && let Some(lane) = self.try_accept().await?
            {
                if self.stopped.is_cancelled() {
                    Box::new(lane).release().await?;
                    return Ok(None);
                }
                return Ok(Some(Box::new(lane)));
            }
            tokio::select! {
                () = self.stopped.cancelled() => {}
                () = self.shared.pause(&mut self.changes, outlook) => {}
            }
        }
        Ok(None)
    }

    fn stopper(&self) -> Arc<dyn Stopper> {
        Arc::new(Stop(self.stopped.clone()))
    }
}
