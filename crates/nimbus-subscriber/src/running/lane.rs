use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use nimbus_messaging::{Delivery, Lane, LaneLock, SessionId, SessionStore};
use tokio_util::task::TaskTracker;

use super::gate::IntakeGate;
use super::renewal::keep_renewed;
use super::stop::Stop;
use crate::processor::{Interrupts, Services, Settled, process_and_settle};
use crate::session::HeldSession;

/// After so many deliveries a busy lane is given back, so that none starves the others.
const DELIVERIES_PER_LANE: usize = 256;

/// How many sessions' states one lane keeps at hand; a partition can carry any number.
const HELD_SESSIONS: usize = 1_024;

/// What every lane of a subscriber works with.
#[derive(Debug, Clone)]
pub(super) struct LaneWorker {
    pub(super) services: Arc<Services>,
    /// Where session state lives when the broker keeps none.
    pub(super) session_store: Option<Arc<dyn SessionStore>>,
    pub(super) gate: IntakeGate,
    pub(super) stop: Stop,
    /// Tracks processing to its end, whatever becomes of the lane's own task.
    pub(super) tasks: TaskTracker,
    /// How long a lane without work is kept.
    pub(super) idle: Duration,
}

impl LaneWorker {
    /// Processes a lane's deliveries one after another until it is idle, lost or stopped, then
    /// gives it back.
    pub(super) async fn work(self, mut lane: Box<dyn Lane>) {
        let store = lane.sessions().or_else(|| self.session_store.clone());
        let mut held = BTreeMap::new();
        let lock = lane.lock();
        let lock_lost = lock.lost();
        for _ in 0..DELIVERIES_PER_LANE {
            let received = tokio::select! {
                biased;
                () = self.stop.stopping.cancelled() => break,
                () = lock_lost.cancelled() => break,
                received = lane.receive(self.idle) => received,
            };
            let delivery = match received {
                Ok(Some(delivery)) => delivery,
                Ok(None) => break,
                Err(error) => {
                    tracing::warn!(
                        endpoint = %self.services.endpoint,
                        error = &error as &dyn std::error::Error,
                        "receiving from a session failed; giving it back"
                    );
                    break;
                }
            };
            if !self
                .process(&lock, store.as_ref(), &mut held, delivery)
                .await
            {
                break;
            }
        }
        if let Err(error) = lane.release().await {
            tracing::warn!(
                endpoint = %self.services.endpoint,
                error = &error as &dyn std::error::Error,
                "giving a session back failed; it is free when its lock ends"
            );
        }
    }

    /// Processes one delivery, renewing the lane's lock meanwhile. `false` when the lane is of no
    /// more use.
    async fn process(
        &self,
        lock: &Arc<dyn LaneLock>,
        store: Option<&Arc<dyn SessionStore>>,
        held: &mut BTreeMap<SessionId, HeldSession>,
        delivery: Delivery,
    ) -> bool {
        let session_id = delivery
            .envelope
            .session_id
            .as_deref()
            .and_then(SessionId::new);
        let session = session_id.clone().zip(store).map(|(id, store)| {
            held.remove(&id)
                .unwrap_or_else(|| HeldSession::new(id, Arc::clone(store)))
        });
        let abort = self.stop.abort.child_token();
        let interrupts = Interrupts {
            stopping: self.stop.stopping.clone(),
            abort: abort.clone(),
        };
        // A task of its own: what follows the handler survives whatever happens to this one.
        let services = Arc::clone(&self.services);
        let mut processing = self
            .tasks
            .spawn(process_and_settle(services, delivery, session, interrupts));
        let settled = tokio::select! {
            biased;
            settled = &mut processing => settled,
            () = keep_renewed(Arc::clone(lock)) => {
                // Another receiver may have the session now: its handler must not run beside ours.
                abort.cancel();
                processing.await
            }
        };
        match settled {
            Ok(Settled::Continue(session)) => {
                if held.len() >= HELD_SESSIONS {
                    held.clear();
                }
                held.extend(session_id.zip(session.map(|session| *session)));
                true
            }
            Ok(Settled::ReleaseLane) => false,
            Ok(Settled::StoreUnavailable) => {
                self.gate.close();
                false
            }
            Err(error) => {
                tracing::error!(
                    endpoint = %self.services.endpoint,
                    %error,
                    "processing a message ended abnormally; the message is delivered again"
                );
                false
            }
        }
    }
}
