//! What the resolver is told (SUB-24).

mod outcome;
mod text;

use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::{Clock, EndpointId, Timestamp};
use nimbus_messaging::{
    Address, ErrorContent, EventContent, Headers, MessageContent, MessageType, Sender,
    TransportError, TransportErrorKind, random_message_id,
};

pub(crate) use outcome::Outcome;
pub(crate) use text::cut;

use crate::processor::{Interruption, bounded};
use crate::telemetry;

/// Sends outcome messages to the resolver.
#[derive(Debug, Clone)]
pub(crate) struct Responder {
    endpoint: EndpointId,
    resolver: Arc<dyn Sender>,
    clock: Arc<dyn Clock>,
}

/// The message an outcome is about.
#[derive(Debug, Clone, Copy)]
pub(crate) struct About<'a> {
    pub(crate) headers: &'a Headers,
    pub(crate) event: Option<&'a EventContent>,
    pub(crate) enqueued_at: Option<Timestamp>,
    /// When this receiver took the message.
    pub(crate) received_at: Timestamp,
}

impl Responder {
    pub(crate) fn new(
        endpoint: EndpointId,
        resolver: Arc<dyn Sender>,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self {
            endpoint,
            resolver,
            clock,
        }
    }

    /// Sends an outcome; a failure leaves the message for redelivery.
    ///
    /// An outcome that the broker refuses goes without its event; where that does not help, its
    /// identities alone are too large, and it does not go at all.
    pub(crate) async fn send(
        &self,
        about: About<'_>,
        outcome: Outcome,
    ) -> Result<(), Interruption> {
        let name = outcome.message_type();
        let sent = self.try_send(about, outcome.clone()).await;
        let sent = match sent {
            // An outcome is a little larger than its message, and may be just too large for the
            // broker. Without the event it still tells what happened; waiting would not help.
            Err(error) if error.kind() == TransportErrorKind::InvalidInput => {
                tracing::error!(
                    endpoint = %self.endpoint,
                    message_id = about.headers.message_id.as_deref(),
                    error = &error as &dyn std::error::Error,
                    "the broker refuses the {name} to the resolver; sending it without the event"
                );
                let without_event = About {
                    event: None,
                    ..about
                };
                self.try_send(without_event, outcome).await
            }
            sent => sent,
        };
        match sent {
            Err(error) if error.kind() == TransportErrorKind::InvalidInput => {
                tracing::error!(
                    endpoint = %self.endpoint,
                    error = &error as &dyn std::error::Error,
                    "the broker refuses the {name} without its event too; the resolver is not told"
                );
                Ok(())
            }
            sent => sent.map_err(|error| self.failed(about, name, &error)),
        }
    }

    /// As [`send`](Self::send), for an outcome that is all that is left of its event.
    pub(crate) async fn send_whole(
        &self,
        about: About<'_>,
        outcome: Outcome,
    ) -> Result<(), Interruption> {
        let name = outcome.message_type();
        let sent = self.try_send(about, outcome).await;
        sent.map_err(|error| self.failed(about, name, &error))
    }

    fn failed(&self, about: About<'_>, name: MessageType, error: &TransportError) -> Interruption {
        tracing::warn!(
            endpoint = %self.endpoint,
            message_id = about.headers.message_id.as_deref(),
            event_id = about.headers.event_id.as_ref().map(|id| id.as_str()),
            error = error as &dyn std::error::Error,
            "sending the {name} to the resolver failed; the message is left for redelivery"
        );
        Interruption::from_transport(error)
    }

    async fn try_send(&self, about: About<'_>, outcome: Outcome) -> Result<(), TransportError> {
        let envelope = self.compose(about, outcome);
        bounded(self.resolver.send(vec![envelope])).await
    }

    fn compose(&self, about: About<'_>, outcome: Outcome) -> nimbus_messaging::Envelope {
        let from = about.headers;
        let now = self.clock.now();
        let message_type = outcome.message_type();
        let mut headers = Headers {
            message_id: Some(random_message_id()),
            // All that happens to one event stays in order at the resolver.
            session_id: from
                .event_id
                .as_ref()
                .map(|id| id.as_str().to_owned())
                .or_else(|| from.session_id.clone()),
            original_session_id: from.session_id.clone(),
            correlation_id: from.correlation_id.clone(),
            message_type,
            from: Some(Address::new(self.endpoint.as_str())),
            to: Some(Address::RESOLVER),
            event_id: from.event_id.clone(),
            event_type_id: from.event_type_id.clone(),
            originating_message_id: from
                .originating_message_id
                .clone()
                .or_else(|| from.message_id.clone()),
            originating_from: from.originating_from.clone().or_else(|| {
                from.from
                    .as_ref()
                    .map(|address| address.as_str().to_owned())
            }),
            parent_message_id: from.message_id.clone(),
            parent_message_type: Some(from.message_type),
            inbox_message_id: from.inbox_message_id.clone(),
            retry_count: from.retry_count,
            retry_limit: from.retry_limit,
            queue_time_ms: about.enqueued_at.map(|enqueued| {
                milliseconds(about.received_at.saturating_duration_since(enqueued))
            }),
            processing_time_ms: Some(milliseconds(
                now.saturating_duration_since(about.received_at),
            )),
            cloud_event_id: from.cloud_event_id.clone(),
            cloud_event_source: from.cloud_event_source.clone(),
            cloud_event_type: from.cloud_event_type.clone(),
            cloud_event_subject: from.cloud_event_subject.clone(),
            trace: telemetry::outgoing(&from.trace),
            ..Headers::default()
        };
        let error_content = outcome.write(&mut headers);
        headers.into_envelope(&MessageContent {
            event_content: about.event.cloned(),
            error_content: error_content.map(|(error_type, error_text)| ErrorContent {
                error_text: Some(error_text),
                error_type,
                ..ErrorContent::default()
            }),
        })
    }
}

fn milliseconds(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
