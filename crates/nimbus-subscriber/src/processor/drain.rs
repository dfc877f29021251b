use nimbus_messaging::{
    Address, Envelope, Headers, MessageContent, MessageType, SessionState, TraceContext,
    random_message_id,
};

use super::{Interruption, Services, bounded};
use crate::session::HeldSession;
use crate::telemetry;

impl Services {
    /// Asks for the session's deferred messages to be handled, if it is free and has any (SUB-16).
    pub(super) async fn request_drain(
        &self,
        session: &mut HeldSession,
    ) -> Result<(), Interruption> {
        let state = session.state().await?;
        if !state.is_draining() {
            return Ok(());
        }
        let message_type = next_drain(state);
        self.send_to_self(vec![self.to_self(message_type, session)])
            .await
    }

    /// Asks for another drain, whatever the state says.
    pub(super) async fn request_another_drain(
        &self,
        session: &HeldSession,
    ) -> Result<(), Interruption> {
        let request = self.to_self(MessageType::ProcessDeferredRequest, session);
        self.send_to_self(vec![request]).await
    }

    fn to_self(&self, message_type: MessageType, session: &HeldSession) -> Envelope {
        let from = match message_type {
            MessageType::ContinuationRequest => Address::CONTINUATION,
            _ => Address::DEFERRED_PROCESSOR,
        };
        Headers {
            message_id: Some(random_message_id()),
            session_id: Some(session.id().as_str().to_owned()),
            message_type,
            from: Some(from),
            to: Some(Address::new(self.endpoint.as_str())),
            trace: telemetry::outgoing(&TraceContext::default()),
            ..Headers::default()
        }
        .into_envelope(&MessageContent::default())
    }

    pub(super) async fn send_to_self(&self, messages: Vec<Envelope>) -> Result<(), Interruption> {
        bounded(self.own_queue.send(messages))
            .await
            .map_err(|error| {
                tracing::warn!(
                    endpoint = %self.endpoint,
                    error = &error as &dyn std::error::Error,
                    "sending to the endpoint's own queue failed; the message is left for redelivery"
                );
                Interruption::from_transport(&error)
            })
    }
}

/// The older, broker-native deferral goes first: its messages are older.
pub(super) fn next_drain(state: &SessionState) -> MessageType {
    let older =
        !state.deferred_sequence_numbers.is_empty() || state.in_flight_sequence_number.is_some();
    if older {
        MessageType::ContinuationRequest
    } else {
        MessageType::ProcessDeferredRequest
    }
}
