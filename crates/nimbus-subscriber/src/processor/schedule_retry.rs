use std::time::Duration;

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{
    Address, Envelope, ErrorContent, Headers, MessageContent, MessageType, TransportErrorKind,
    derived_message_id, random_message_id,
};

use super::{Interruption, Received, Services, bounded};
use crate::session::HeldSession;
use crate::telemetry;

/// A retry that a policy allows.
#[derive(Debug, Clone, Copy)]
pub(super) struct PlannedRetry {
    /// When the event is tried again.
    pub(super) due: Timestamp,
    /// The same, from the failure on.
    delay: Duration,
}

impl Services {
    /// Schedules again the retry that follows `message`, whose failure was reported and written
    /// before: the crash may have come before it was scheduled (SUB-10).
    ///
    /// Once a later retry has failed there is nothing to repeat: its schedule is proof of this one.
    /// A message that was published twice comes here as well, and must not start the retries anew.
    pub(super) async fn repeat_schedule(
        &self,
        message: &Received,
        session: Option<&mut HeldSession>,
    ) -> Result<(), Interruption> {
        let Some(session) = session else {
            return Ok(());
        };
        let state = session.state().await?;
        if message.headers.retry_count.unwrap_or(0) < state.blocked_retry_count {
            return Ok(());
        }
        let block_id = state.block_id.clone();
        let error = state
            .blocked_by_error
            .clone()
            .unwrap_or_else(unknown_failure);
        let retry = self.plan_retry(message, &error);
        if message.delivery_count > 1 {
            self.report_failure(message, &error, retry).await?;
        }
        self.schedule_retry(message, block_id.as_deref(), &error, retry)
            .await
    }

    /// Decides on the next retry: there is one if a policy matches and its budget allows (SUB-10).
    ///
    /// The decision comes before the failure is reported, so that the resolver knows whether the
    /// event waits for a retry or for an operator.
    pub(super) fn plan_retry(
        &self,
        message: &Received,
        error: &ErrorContent,
    ) -> Option<PlannedRetry> {
        let retries_so_far = message.headers.retry_count.unwrap_or(0);
        let policy = self.retries.select(
            message.event_type(),
            error.error_type.as_deref().unwrap_or_default(),
            error.error_text.as_deref().unwrap_or_default(),
        )?;
        let delay = policy.next_delay(retries_so_far, &*self.random)?;
        Some(PlannedRetry {
            due: self.clock.now().saturating_add(delay),
            delay,
        })
    }

    /// Schedules the retry that was decided on.
    ///
    /// It comes before the failed message is completed: the other order loses the retry in a crash.
    pub(super) async fn schedule_retry(
        &self,
        message: &Received,
        block_id: Option<&str>,
        error: &ErrorContent,
        retry: Option<PlannedRetry>,
    ) -> Result<(), Interruption> {
        let retries_so_far = message.headers.retry_count.unwrap_or(0);
        let headers = &message.headers;
        let (event_id, session_id) = (
            headers.event_id.as_ref().map(|id| id.as_str()),
            headers.session_id.as_deref(),
        );
        let Some(PlannedRetry { due, delay }) = retry else {
            tracing::error!(
                endpoint = %self.endpoint,
                event_type = message.event_type(),
                event_id,
                session_id,
                error_type = error.error_type.as_deref(),
                error_text = error.error_text.as_deref(),
                retries_so_far,
                "an event failed and no retry is left; until an operator settles it, the messages \
                 of its session, if it has one, are set aside"
            );
            return Ok(());
        };
        let request = self.retry_of(message, block_id, retries_so_far.saturating_add(1));
        if !holds!(RetryBeforeCompletion) {
            let own_queue = std::sync::Arc::clone(&self.own_queue);
            tokio::spawn(async move { own_queue.schedule(request, due).await });
            return Ok(());
        }
        match bounded(self.own_queue.schedule(request, due)).await {
            Ok(_) => {}
            // A retry is a little larger than its message, and may be just too large for the
            // broker. Waiting would not help; the block is left to the operator.
            Err(refused) if refused.kind() == TransportErrorKind::InvalidInput => {
                tracing::error!(
                    endpoint = %self.endpoint,
                    event_id,
                    session_id,
                    error = &refused as &dyn std::error::Error,
                    "the broker refuses the retry of an event; it blocks its session until an \
                     operator settles it"
                );
                // The resolver was told that a retry follows.
                return self.report_failure(message, error, None).await;
            }
            Err(failed) => {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    event_id,
                    error = &failed as &dyn std::error::Error,
                    "scheduling a retry failed; the message is left for redelivery"
                );
                return Err(Interruption::from_transport(&failed));
            }
        }
        self.tally.retry_scheduled();
        tracing::warn!(
            endpoint = %self.endpoint,
            event_type = message.event_type(),
            event_id,
            session_id,
            error_type = error.error_type.as_deref(),
            error_text = error.error_text.as_deref(),
            retries_so_far,
            ?delay,
            "an event failed and is tried again after the delay; until it succeeds, the messages of \
             its session, if it has one, are set aside"
        );
        Ok(())
    }

    /// The stand-in that tries the event again. Its id derives from the source and the count, so a
    /// second schedule of the same retry is recognisable.
    fn retry_of(&self, message: &Received, block_id: Option<&str>, retry_count: u32) -> Envelope {
        let source = self.usable_source(message);
        let from = &message.headers;
        let message_id = source.as_ref().map_or_else(random_message_id, |source| {
            derived_message_id(&["retry", source, &retry_count.to_string()])
        });
        Headers {
            message_id: Some(message_id),
            message_type: MessageType::RetryRequest,
            from: Some(Address::RETRY),
            to: Some(Address::new(self.endpoint.as_str())),
            retry_count: Some(retry_count),
            inbox_message_id: source,
            block_id: block_id.map(ToOwned::to_owned),
            parent_message_id: from.message_id.clone(),
            originating_message_id: from
                .originating_message_id
                .clone()
                .or_else(|| from.message_id.clone()),
            deferral_sequence: None,
            trace: telemetry::outgoing(&from.trace),
            ..from.clone()
        }
        .into_envelope(&MessageContent {
            event_content: message.event().cloned(),
            error_content: None,
        })
    }
}

/// The failure of a block that an older version wrote without its error.
fn unknown_failure() -> ErrorContent {
    ErrorContent {
        error_text: Some(
            "the handler failed; its error was reported when the session was blocked".to_owned(),
        ),
        ..ErrorContent::default()
    }
}
