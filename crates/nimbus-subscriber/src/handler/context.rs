use std::sync::{Arc, Mutex, PoisonError};

use nimbus_inbox_core::{EndpointId, Timestamp};
use nimbus_messaging::{
    Address, EventId, EventRequest, Headers, TraceContext, Transport, TransportError,
};
use serde::Serialize;
use tokio_util::sync::CancellationToken;

use super::claim::{Claimed, Claiming, Progress};
use crate::telemetry;

/// Work that goes on outside after the handler returned (SUB-14).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Handoff {
    /// Why the work was handed off, for the operator.
    pub reason: String,
    /// Id of the external job.
    pub external_job_id: Option<String>,
    /// When the job is expected to be done.
    pub expected_by: Option<Timestamp>,
}

/// Why an event could not be published from a handler.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The event can't be written as JSON.
    #[error("the event can't be written as JSON")]
    Event(#[from] serde_json::Error),
    /// The transport did not take it.
    #[error("the event was not published")]
    Transport(#[from] TransportError),
}

/// What a handler knows of its message, and what it can ask for.
#[derive(Debug, Clone)]
pub struct HandlerContext(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    parts: ContextParts,
    handoff: Mutex<Option<Handoff>>,
    progress: Progress,
}

/// What a context is made of.
#[derive(Debug)]
pub(crate) struct ContextParts {
    pub(crate) endpoint: EndpointId,
    pub(crate) headers: Headers,
    pub(crate) source_id: Option<String>,
    pub(crate) delivery_count: u32,
    pub(crate) enqueued_at: Option<Timestamp>,
    pub(crate) stopping: CancellationToken,
    pub(crate) outbound: Outbound,
    pub(crate) claiming: Claiming,
}

/// Where a handler's own messages go.
#[derive(Debug, Clone)]
pub(crate) struct Outbound(pub(crate) Arc<dyn Transport>);

impl HandlerContext {
    pub(crate) fn new(parts: ContextParts) -> Self {
        Self(Arc::new(Inner {
            parts,
            handoff: Mutex::new(None),
            progress: Progress::default(),
        }))
    }

    /// The endpoint this subscriber serves.
    #[must_use]
    pub fn endpoint(&self) -> &EndpointId {
        &self.0.parts.endpoint
    }

    /// The message id that the broker first delivered the event with; a retry or a replay keeps it.
    #[must_use]
    pub fn message_id(&self) -> Option<&str> {
        self.0.parts.source_id.as_deref()
    }

    /// Everything the message says beside its body.
    #[must_use]
    pub fn headers(&self) -> &Headers {
        &self.0.parts.headers
    }

    /// Id of the event.
    #[must_use]
    pub fn event_id(&self) -> Option<&EventId> {
        self.headers().event_id.as_ref()
    }

    /// Type of the event, which chose the handler.
    #[must_use]
    pub fn event_type(&self) -> &str {
        self.headers().event_type_id.as_deref().unwrap_or_default()
    }

    /// The session whose order the event keeps.
    #[must_use]
    pub fn session_id(&self) -> Option<&str> {
        self.headers().session_id.as_deref()
    }

    /// How many retries came before this attempt.
    #[must_use]
    pub fn retry_count(&self) -> u32 {
        self.headers().retry_count.unwrap_or(0)
    }

    /// How often the broker delivered this very message.
    #[must_use]
    pub fn delivery_count(&self) -> u32 {
        self.0.parts.delivery_count
    }

    /// When the broker accepted the message, if it tells.
    #[must_use]
    pub fn enqueued_at(&self) -> Option<Timestamp> {
        self.0.parts.enqueued_at
    }

    /// Trace context for what the handler calls or sends itself, as W3C text (SUB-25).
    ///
    /// It is that of the current span, with the feature `opentelemetry` and where a layer exports
    /// spans; else that of the message, as it came. [`publish`](Self::publish) passes it on by itself.
    #[must_use]
    pub fn trace_context(&self) -> TraceContext {
        telemetry::outgoing(&self.headers().trace)
    }

    /// Cancelled when the subscriber was asked to stop. A handler that then returns an error is
    /// cancelled, not failed: the message is delivered again (INB-14).
    #[must_use]
    pub fn stopping(&self) -> &CancellationToken {
        &self.0.parts.stopping
    }

    /// Says that the work goes on in an external job once the handler returns success: the session
    /// stays blocked and nothing is recorded until the job is settled (SUB-14, INB-13). The last
    /// call counts; it has no effect when the handler fails, nor after
    /// [`process_in`](Self::process_in) has recorded the message.
    pub fn mark_pending_handoff(&self, handoff: Handoff) {
        *self
            .0
            .handoff
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(handoff);
    }

    /// Forgets what a handler that failed had handed off, unless that is committed.
    pub(crate) fn forget_handoff(&self) {
        if !self.0.progress.has_decided() {
            self.handoff();
        }
    }

    pub(super) fn is_handed_off(&self) -> bool {
        self.0
            .handoff
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .is_some()
    }

    pub(super) fn claiming(&self) -> &Claiming {
        &self.0.parts.claiming
    }

    pub(super) fn progress(&self) -> &Progress {
        &self.0.progress
    }

    /// Ends the handler's run: what its own transaction decided, if it had one (SUB-39).
    pub(crate) fn close(&self) -> Claimed {
        self.0.progress.close()
    }

    pub(crate) fn handoff(&self) -> Option<Handoff> {
        self.0
            .handoff
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Publishes an event that this one caused, keeping session, correlation and lineage.
    ///
    /// `message_id` must be the same whenever this handler runs for this event, so that the
    /// receiver's inbox recognises a second run: derive it from the workflow, the transition and
    /// its version, as in `order-42:capture-payment:1`.
    ///
    /// # Errors
    ///
    /// [`PublishError`]; the event may have been published all the same.
    ///
    /// # Cancel safety
    ///
    /// Dropped, the event may have been published or not; a redelivery publishes it again under
    /// the same id.
    pub async fn publish<T: Serialize + Sync>(
        &self,
        address: impl Into<Address> + Send,
        event_type: &str,
        event: &T,
        message_id: &str,
    ) -> Result<(), PublishError> {
        let address = address.into();
        let cause = self.headers();
        let envelope = EventRequest::new(event_type, event)?
            .with_message_id(message_id)
            .with_event_id(message_id)
            .with_headers(|headers| {
                headers.session_id.clone_from(&cause.session_id);
                headers.correlation_id.clone_from(&cause.correlation_id);
                headers.parent_message_id = self.message_id().map(ToOwned::to_owned);
                headers.originating_message_id = cause
                    .originating_message_id
                    .clone()
                    .or_else(|| self.message_id().map(ToOwned::to_owned));
                headers.originating_from = cause.originating_from.clone().or_else(|| {
                    cause
                        .from
                        .as_ref()
                        .map(|address| address.as_str().to_owned())
                });
                headers.from = Some(Address::new(self.endpoint().as_str()));
                headers.trace = self.trace_context();
            })
            .to(address.clone());
        let sender = self.0.parts.outbound.0.sender(&address).await?;
        sender.send(vec![envelope]).await?;
        Ok(())
    }
}
