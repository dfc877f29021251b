use nimbus_messaging::{
    Address, Envelope, ErrorContent, Headers, MessageContent, MessageType, SessionState,
    derived_message_id, random_message_id,
};

use super::{Interruption, Received, Services, bounded};
use crate::handler::Handoff;
use crate::responder::{Outcome, cut};

/// What blocks a session, chosen before anything is written (SUB-10).
#[derive(Debug, Clone)]
pub(super) struct Block {
    pub(super) id: String,
    pub(super) error: ErrorContent,
}

impl Block {
    pub(super) fn new(error_type: &str, text: &str) -> Self {
        Self {
            id: random_message_id(),
            error: error_content(error_type, text),
        }
    }
}

/// A handler's failure as it is stored and sent: a text of any length must fit a message.
pub(super) fn error_content(error_type: &str, text: &str) -> ErrorContent {
    ErrorContent {
        error_type: Some(cut(error_type).to_owned()),
        error_text: Some(cut(text).to_owned()),
        ..ErrorContent::default()
    }
}

impl Services {
    /// Tells the resolver that the handler failed.
    pub(super) async fn report_failure(
        &self,
        message: &Received,
        error: &ErrorContent,
    ) -> Result<(), Interruption> {
        self.tally.failed();
        self.responder
            .send(
                message.about(),
                Outcome::Failed {
                    error_type: error.error_type.clone().unwrap_or_default(),
                    text: error.error_text.clone().unwrap_or_default(),
                },
            )
            .await
    }

    /// The change that blocks a session by the event of `message` (INB-17, SUB-10).
    pub(super) fn blocking(
        &self,
        message: &Received,
        block: Block,
    ) -> impl FnOnce(&mut SessionState) + Send + use<> {
        let event_id = message.headers.event_id.clone();
        let source = self.usable_source(message);
        move |state| {
            state.blocked_by_event_id = event_id;
            state.blocked_by_message_id = source;
            state.block_id = Some(block.id);
            state.blocked_by_handoff = false;
            state.blocked_by_error = Some(block.error);
        }
    }

    /// The change that blocks a session until an external job is settled (SUB-14).
    ///
    /// An event that blocked before keeps the source id that was stored first (INB-17).
    pub(super) fn blocking_for_handoff(
        &self,
        message: &Received,
    ) -> impl FnOnce(&mut SessionState) + Send + use<> {
        let event_id = message.headers.event_id.clone();
        let source = self.usable_source(message);
        move |state| {
            if !state.is_blocked_by(event_id.as_ref()) {
                state.blocked_by_message_id = source;
            }
            state.blocked_by_event_id = event_id;
            state.block_id = Some(random_message_id());
            state.blocked_by_handoff = true;
            state.blocked_by_error = None;
        }
    }

    /// Tells the resolver that the work goes on outside.
    pub(super) async fn report_handoff(
        &self,
        message: &Received,
        handoff: Handoff,
    ) -> Result<(), Interruption> {
        self.tally.handed_off();
        self.responder
            .send(message.about(), Outcome::PendingHandoff(handoff))
            .await
    }

    /// Schedules the next retry, if a policy matches and its budget allows (SUB-10).
    ///
    /// It comes before the failed message is completed: the other order loses the retry in a crash.
    pub(super) async fn schedule_retry(
        &self,
        message: &Received,
        block_id: Option<&str>,
        error: &ErrorContent,
    ) -> Result<(), Interruption> {
        let retries_so_far = message.headers.retry_count.unwrap_or(0);
        let policy = self.retries.select(
            message.event_type(),
            error.error_type.as_deref().unwrap_or_default(),
            error.error_text.as_deref().unwrap_or_default(),
        );
        let delay = policy.and_then(|policy| policy.next_delay(retries_so_far, &*self.random));
        let Some(delay) = delay else {
            return Ok(());
        };
        let request = self.retry_of(message, block_id, retries_so_far.saturating_add(1));
        let due = self.clock.now().saturating_add(delay);
        bounded(self.own_queue.schedule(request, due))
            .await
            .map_err(|error| {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    error = &error as &dyn std::error::Error,
                    "scheduling a retry failed; the message is left for redelivery"
                );
                Interruption::from_transport(&error)
            })?;
        self.tally.retry_scheduled();
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
            ..from.clone()
        }
        .into_envelope(&MessageContent {
            event_content: message.event().cloned(),
            error_content: None,
        })
    }
}
