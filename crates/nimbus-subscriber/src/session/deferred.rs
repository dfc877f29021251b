use std::convert::Infallible;

use nimbus_messaging::{Delivery, Lane, SessionId, TransportError};
use tokio::sync::{mpsc, oneshot};

use crate::processor::bounded;

/// Fetches the session's deferred messages while one of its messages is processed (SUB-17).
///
/// The lane stays with the lane's own task, which alone can receive from it; this asks that task.
#[derive(Debug)]
pub(crate) struct DeferredMessages(mpsc::Sender<Fetch>);

/// The lane's side of [`DeferredMessages`].
#[derive(Debug)]
pub(crate) struct DeferredRequests(mpsc::Receiver<Fetch>);

#[derive(Debug)]
struct Fetch {
    session: SessionId,
    sequence_number: i64,
    answer: oneshot::Sender<Result<Option<Delivery>, TransportError>>,
}

impl DeferredMessages {
    pub(crate) fn of_lane() -> (Self, DeferredRequests) {
        let (requests, served) = mpsc::channel(1);
        (Self(requests), DeferredRequests(served))
    }

    /// The deferred message with that number; `None` when there is none.
    ///
    /// Dropped, or unanswered because the lane is lost, it leaves the message deferred.
    pub(crate) async fn fetch(
        &self,
        session: &SessionId,
        sequence_number: i64,
    ) -> Result<Option<Delivery>, TransportError> {
        let (answer, answered) = oneshot::channel();
        let fetch = Fetch {
            session: session.clone(),
            sequence_number,
            answer,
        };
        let sent = self.0.send(fetch).await;
        sent.map_err(|_| lane_is_over())?;
        answered.await.unwrap_or_else(|_| Err(lane_is_over()))
    }
}

impl DeferredRequests {
    /// Answers until it is dropped.
    pub(crate) async fn serve(&mut self, lane: &mut dyn Lane) -> Infallible {
        while let Some(fetch) = self.0.recv().await {
            let fetched = lane.receive_deferred(&fetch.session, fetch.sequence_number);
            let fetched = bounded(fetched).await;
            // Nobody waits any more: the message stays deferred once its receipt is dropped.
            let _ = fetch.answer.send(fetched);
        }
        std::future::pending().await
    }
}

fn lane_is_over() -> TransportError {
    TransportError::lock_lost("the session was given back while a deferred message was fetched")
}
