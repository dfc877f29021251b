use std::future::Future;
use std::pin::pin;
use std::sync::Arc;

use nimbus_inbox_core::EndpointId;
use nimbus_messaging::{LaneSource, Stopper, Transport};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::accept::accept_lanes;
use super::lane::LaneWorker;
use super::purge::purge_regularly;
use super::report::Tally;
use super::{ResolverOptions, ResolverReport};
use crate::{ResolverError, ResolverStore};

/// Receives what subscribers report and keeps it in a [`ResolverStore`].
#[derive(Debug)]
pub struct Resolver {
    store: ResolverStore,
    transport: Arc<dyn Transport>,
    options: ResolverOptions,
}

impl Resolver {
    /// Receives from `transport` into `store`.
    #[must_use]
    pub fn new(store: ResolverStore, transport: Arc<dyn Transport>) -> Self {
        Self {
            store,
            transport,
            options: ResolverOptions::default(),
        }
    }

    /// With other options.
    #[must_use]
    pub fn with_options(mut self, options: ResolverOptions) -> Self {
        self.options = options;
        self
    }

    /// Receives until `stop` resolves, then finishes what is in work and says what it did.
    ///
    /// Several may run on one address and one database. While the database fails, nothing more is
    /// taken than is held already, and nothing is lost.
    ///
    /// # Errors
    ///
    /// [`ResolverError`] when the options, the database or the transport can't serve at the start,
    /// and when receiving ended before `stop`, which takes a fault in a transport.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it stops at once. What is in the database and was not completed at the broker comes
    /// again, and changes nothing.
    pub async fn run(
        self,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<ResolverReport, ResolverError> {
        self.options.validate()?;
        let mut stop = pin!(stop);
        let source = tokio::select! {
            biased;
            source = self.lanes() => source?,
            () = &mut stop => return Ok(ResolverReport::default()),
        };
        let (stopping, tasks, tally) = (
            CancellationToken::new(),
            TaskTracker::new(),
            Tally::default(),
        );
        let ending = Ending {
            stopper: source.stopper(),
            stopping: stopping.clone(),
        };
        tasks.spawn(purge_regularly(
            self.store.clone(),
            self.options.clone(),
            stopping.clone(),
        ));
        let worker = LaneWorker {
            store: self.store,
            clock: Arc::clone(&self.options.clock),
            stopping,
            tally: tally.clone(),
        };
        let events = self.options.concurrent_events;
        let mut accepting = tasks.spawn(accept_lanes(source, events, worker, tasks.clone()));
        let stopped = tokio::select! {
            biased;
            () = stop => true,
            _ = &mut accepting => false,
        };

        drop(ending);
        tasks.close();
        let deadline = self.options.drain_deadline;
        if tokio::time::timeout(deadline, tasks.wait()).await.is_err() {
            tracing::warn!(
                in_work = tasks.len(),
                "outcomes are still in work after the drain deadline; they are delivered again"
            );
        }
        let report = tally.report();
        if stopped {
            return Ok(report);
        }
        Err(ResolverError::configuration(format!(
            "the resolver stopped receiving although nobody asked for it, which is a fault of the \
             transport; until then: {report}"
        )))
    }

    async fn lanes(&self) -> Result<Box<dyn LaneSource>, ResolverError> {
        let address = EndpointId::new(self.options.address.as_str()).map_err(|reason| {
            ResolverError::configuration(format!("the resolver's address is {reason}"))
        })?;
        let verified = self.transport.verify(&address).await;
        verified.map_err(|error| ResolverError::transport("reach the broker", error))?;
        let lanes = self.transport.lanes(&address).await;
        lanes.map_err(|error| ResolverError::transport("receive from its address", error))
    }
}

/// Ends the waiting for lanes, also when `run` is dropped.
struct Ending {
    stopper: Arc<dyn Stopper>,
    stopping: CancellationToken,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.stopping.cancel();
        self.stopper.stop();
    }
}
