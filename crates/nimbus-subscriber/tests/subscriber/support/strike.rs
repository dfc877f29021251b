use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use nimbus_inbox_testing::{
    BrokerCall, BrokerHook, BrokerOperation, BrokerPoint, Fault, FaultyStore, ProcessId, StoreCall,
    When,
};
use nimbus_messaging::TransportError;

/// How long a call takes that an action may interrupt.
pub(super) const SUSPENSION: Duration = Duration::from_millis(1);

type Action = Box<dyn Fn() + Send + Sync>;

/// Does something to a process at the nth point of its run. The points lie before and after every
/// effect on the broker and on the inbox store, and where a handler says so.
#[derive(Clone)]
pub(crate) struct Strike(Arc<Plan>);

struct Plan {
    at: Option<u64>,
    seen: AtomicU64,
    process: ProcessId,
    action: Action,
    /// The process does nothing more afterwards.
    kills: bool,
}

impl Strike {
    pub(super) fn new(at: Option<u64>, process: ProcessId, kills: bool, action: Action) -> Self {
        Self(Arc::new(Plan {
            at,
            seen: AtomicU64::new(0),
            process,
            action,
            kills,
        }))
    }

    /// Sees the store calls of the process.
    pub(super) fn watch(&self, store: &FaultyStore) {
        for fault in [Fault::hang(), Fault::hang().after_effect()] {
            let strike = self.clone();
            let when = When::any().matching(move |call| {
                // A cleanup comes at a random time.
                let counts = matches!(
                    call,
                    StoreCall::Check(_) | StoreCall::Record(_) | StoreCall::Commit
                );
                counts && strike.point()
            });
            store.inject(when, fault);
        }
    }

    /// A point; `true` when the process is dead.
    pub(crate) fn point(&self) -> bool {
        let number = self.0.seen.fetch_add(1, Ordering::SeqCst);
        if Some(number) == self.0.at {
            (self.0.action)();
        }
        self.0.kills && self.has_struck()
    }

    /// Whether the run came as far as the planned point.
    pub(crate) fn has_struck(&self) -> bool {
        let seen = self.0.seen.load(Ordering::SeqCst);
        self.0.at.is_some_and(|at| at < seen)
    }
}

impl std::fmt::Debug for Strike {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Strike({:?})", self.0.at)
    }
}

#[async_trait]
impl BrokerHook for Strike {
    async fn reach(&self, point: BrokerPoint, call: &BrokerCall) -> Result<(), TransportError> {
        // Before it receives, a process has no effect.
        let starting = matches!(
            call.operation,
            BrokerOperation::Verify | BrokerOperation::OpenSender | BrokerOperation::OpenLanes
        );
        let counts = call.process == self.0.process && point != BrokerPoint::Called && !starting;
        if counts && self.point() {
            std::future::pending::<()>().await;
        }
        if counts && !self.0.kills {
            tokio::time::sleep(SUSPENSION).await;
        }
        Ok(())
    }
}
