use std::collections::BTreeMap;
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::time::Duration;

use nimbus_messaging::{Delivery, Lane, SessionId, SessionStore};
use tokio::sync::Semaphore;
use tokio_util::task::TaskTracker;

use super::intake::LanePass;
use super::renewal::keep_renewed;
use super::stop::Stop;
use crate::processor::{Interrupts, Services, Settled, process_and_settle};
use crate::session::{DeferredMessages, HeldSession};

/// After so many deliveries a busy lane is given back, so that none starves the others.
const DELIVERIES_PER_LANE: usize = 256;

/// How many sessions' states one lane keeps at hand; a partition can carry any number.
const HELD_SESSIONS: usize = 1_024;

/// How long a lane is held after a failure that would repeat at once if it were given back (SUB-30).
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(1);

/// What a lane does after a delivery.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    Receive,
    Release,
    /// Give it back after a pause.
    Pause,
}

/// What every lane of a subscriber works with.
#[derive(Debug, Clone)]
pub(super) struct LaneWorker {
    pub(super) services: Arc<Services>,
    /// Where session state lives when the broker keeps none.
    pub(super) session_store: Option<Arc<dyn SessionStore>>,
    pub(super) stop: Stop,
    /// Tracks processing to its end, whatever becomes of the lane's own task.
    pub(super) tasks: TaskTracker,
    /// How long a lane without work is kept.
    pub(super) idle: Duration,
}

impl LaneWorker {
    /// Processes a lane's deliveries one after another until it is idle, lost or stopped, then
    /// gives it back.
    pub(super) async fn work(
        self,
        mut lane: Box<dyn Lane>,
        mut pass: LanePass,
        permits: &Semaphore,
    ) {
        let store = lane.sessions().or_else(|| self.session_store.clone());
        let mut held = BTreeMap::new();
        // From acceptance to release: many short messages outlast a lock as one long one does.
        let mut renewal = pin!(keep_renewed(lane.lock()));
        for _ in 0..DELIVERIES_PER_LANE {
            // A lane that was waited for when store or handlers failed takes nothing either.
            if !pass.admits() {
                break;
            }
            // An idle session is kept only while there is room for others.
            let wait = match permits.available_permits() {
                0 => Duration::ZERO,
                _ => self.idle,
            };
            let received = tokio::select! {
                biased;
                () = self.stop.stopping.cancelled() => break,
                () = &mut renewal => break,
                received = lane.receive(wait) => received,
            };
            let next = match received {
                Ok(Some(delivery)) => {
                    let sessions = (store.as_ref(), &mut held);
                    self.process(&mut *lane, renewal.as_mut(), sessions, delivery)
                        .await
                }
                Ok(None) => Next::Release,
                Err(error) => {
                    tracing::warn!(
                        endpoint = %self.services.endpoint,
                        error = &error as &dyn std::error::Error,
                        "receiving from a session failed; giving it back after a pause"
                    );
                    Next::Pause
                }
            };
            match next {
                Next::Receive => {}
                Next::Release => break,
                Next::Pause => {
                    tokio::select! {
                        biased;
                        () = self.stop.stopping.cancelled() => {}
                        () = tokio::time::sleep(PAUSE_AFTER_FAILURE) => {}
                    }
                    break;
                }
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

    /// Processes one delivery, renewing the lane's lock and fetching what it asks for meanwhile.
    async fn process(
        &self,
        lane: &mut dyn Lane,
        mut renewal: Pin<&mut (impl Future<Output = ()> + Send)>,
        (store, held): (
            Option<&Arc<dyn SessionStore>>,
            &mut BTreeMap<SessionId, HeldSession>,
        ),
        delivery: Delivery,
    ) -> Next {
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
        let (deferred, mut requests) = DeferredMessages::of_lane();
        let mut processing = self.tasks.spawn(process_and_settle(
            services, delivery, session, deferred, interrupts,
        ));
        let settled = tokio::select! {
            biased;
            settled = &mut processing => settled,
            () = &mut renewal => {
                // Another receiver may have the session now: its handler must not run beside ours.
                abort.cancel();
                drop(requests);
                let _ = processing.await;
                return Next::Release;
            }
            never = requests.serve(lane) => match never {},
        };
        match settled {
            Ok(Settled::Continue(session)) => {
                if held.len() >= HELD_SESSIONS {
                    held.clear();
                }
                held.extend(session_id.zip(session.map(|session| *session)));
                Next::Receive
            }
            Ok(Settled::ReleaseLane) => Next::Release,
            Ok(Settled::Unconfirmed) => Next::Pause,
            Ok(Settled::StoreUnavailable) => {
                self.services.intake.close();
                Next::Release
            }
            Err(error) => {
                tracing::error!(
                    endpoint = %self.services.endpoint,
                    %error,
                    "processing a message ended abnormally; the message is delivered again"
                );
                Next::Pause
            }
        }
    }
}
