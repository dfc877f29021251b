use std::sync::Arc;

use super::{EventReference, ManagerError, ManagerErrorKind};
use crate::model::{
    Address, ErrorContent, EventContent, EventId, Headers, MessageContent, MessageType,
    random_message_id,
};
use crate::session::SessionId;
use crate::transport::{Sender, Transport, TransportError};

/// Sends operators' commands to one endpoint (SUB-28).
///
/// Each command is a message in the event's session and waits there for its turn. Every call sends
/// a message of its own under a new random id, so two calls are two commands. What came of one is
/// told to the resolver.
#[derive(Debug, Clone)]
pub struct ManagerClient {
    endpoint: Address,
    sender: Arc<dyn Sender>,
}

impl ManagerClient {
    /// Sends to `endpoint` through `sender`, which must lead there.
    #[must_use]
    pub fn new(endpoint: impl Into<Address>, sender: Arc<dyn Sender>) -> Self {
        Self {
            endpoint: endpoint.into(),
            sender,
        }
    }

    /// Sends to `endpoint` through a sender of `transport`.
    ///
    /// # Errors
    ///
    /// [`TransportError`], transient or configuration.
    ///
    /// # Cancel safety
    ///
    /// Nothing is sent yet; it may be dropped.
    pub async fn connect(
        transport: &dyn Transport,
        endpoint: impl Into<Address> + Send,
    ) -> Result<Self, TransportError> {
        let endpoint = endpoint.into();
        let sender = transport.sender(&endpoint).await?;
        Ok(Self { endpoint, sender })
    }

    /// Has an event handled once more; returns the id of the message that asks for it (SUB-12).
    ///
    /// Success ends the block if it is the event's own, and what waits behind it follows. A failure
    /// is reported, and nothing is retried. `event` is what every outcome at the resolver carries.
    ///
    /// # Errors
    ///
    /// [`ManagerError`]; of [`Transport`](ManagerErrorKind::Transport) it may have been sent all the
    /// same.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been sent or not. To ask again is a second attempt.
    pub async fn resubmit(
        &self,
        event_of: &EventReference,
        event: EventContent,
    ) -> Result<String, ManagerError> {
        let command = MessageType::ResubmissionRequest;
        let invalid = |kind| ManagerError::invalid(kind, command);
        let mut headers = event_of.headers().clone();
        if headers.session_id.as_deref() == Some("") {
            return Err(invalid(ManagerErrorKind::MissingSession));
        }
        require_event_id(&headers).map_err(invalid)?;
        let event_type = headers
            .event_type_id
            .or_else(|| event.event_type_id.clone());
        headers.event_type_id = event_type.filter(|event_type| !event_type.is_empty());
        if headers.event_type_id.is_none() || event.event_json.is_none() {
            return Err(invalid(ManagerErrorKind::MissingEvent));
        }
        let content = MessageContent {
            event_content: Some(event),
            error_content: None,
        };
        self.send(command, headers, content).await
    }

    /// Gives an event up; returns the id of the message that asks for it (SUB-13).
    ///
    /// If the event blocks its session the block ends, and what waits behind it follows.
    ///
    /// # Errors
    ///
    /// [`ManagerError`]; of [`Transport`](ManagerErrorKind::Transport) it may have been sent all the
    /// same.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been sent or not; asking again changes nothing more.
    pub async fn skip(&self, event: &EventReference) -> Result<String, ManagerError> {
        self.settle(MessageType::SkipRequest, event, None).await
    }

    /// Says that the external job of an event is done; returns the id of the message that says it
    /// (SUB-15). The event is resolved and what waits behind it follows, without its handler.
    ///
    /// # Errors
    ///
    /// [`ManagerError`]; of [`Transport`](ManagerErrorKind::Transport) it may have been sent all the
    /// same.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been sent or not; asking again changes nothing more.
    pub async fn complete_handoff(&self, event: &EventReference) -> Result<String, ManagerError> {
        let command = MessageType::HandoffCompletedRequest;
        self.settle(command, event, None).await
    }

    /// Says that the external job of an event failed, and why; returns the id of the message that
    /// says it (SUB-15). The text reaches the resolver as it is; the session stays blocked until
    /// the event is resubmitted or skipped.
    ///
    /// # Errors
    ///
    /// [`ManagerError`]; of [`Transport`](ManagerErrorKind::Transport) it may have been sent all the
    /// same.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been sent or not; asking again reports it again.
    pub async fn fail_handoff(
        &self,
        event: &EventReference,
        text: impl Into<String> + Send,
    ) -> Result<String, ManagerError> {
        let command = MessageType::HandoffFailedRequest;
        let text = text.into();
        if text.trim().is_empty() {
            let kind = ManagerErrorKind::MissingText;
            return Err(ManagerError::invalid(kind, command));
        }
        let error = ErrorContent {
            error_text: Some(text),
            ..ErrorContent::default()
        };
        self.settle(command, event, Some(error)).await
    }

    /// Has the messages that wait in a session handled, if nothing blocks it; returns the id of the
    /// message that asks for it (SUB-18).
    ///
    /// # Errors
    ///
    /// [`ManagerError`]; of [`Transport`](ManagerErrorKind::Transport) it may have been sent all the
    /// same.
    ///
    /// # Cancel safety
    ///
    /// Dropped, it may have been sent or not; asking again does no harm.
    pub async fn drain(&self, session: &SessionId) -> Result<String, ManagerError> {
        let headers = Headers {
            session_id: Some(session.as_str().to_owned()),
            ..Headers::default()
        };
        let command = MessageType::ProcessDeferredRequest;
        self.send(command, headers, MessageContent::default()).await
    }

    /// Sends a command that can do something only to the session that the event belongs to.
    async fn settle(
        &self,
        command: MessageType,
        event: &EventReference,
        error_content: Option<ErrorContent>,
    ) -> Result<String, ManagerError> {
        let invalid = |kind| ManagerError::invalid(kind, command);
        let headers = event.headers().clone();
        if headers.session_id.as_deref().is_none_or(str::is_empty) {
            return Err(invalid(ManagerErrorKind::MissingSession));
        }
        require_event_id(&headers).map_err(invalid)?;
        let content = MessageContent {
            event_content: None,
            error_content,
        };
        self.send(command, headers, content).await
    }

    async fn send(
        &self,
        command: MessageType,
        about: Headers,
        content: MessageContent,
    ) -> Result<String, ManagerError> {
        let message_id = random_message_id();
        let request = Headers {
            message_id: Some(message_id.clone()),
            message_type: command,
            from: Some(Address::MANAGER),
            to: Some(self.endpoint.clone()),
            ..about
        };
        let sent = self
            .sender
            .send(vec![request.into_envelope(&content)])
            .await;
        match sent {
            Ok(()) => Ok(message_id),
            Err(error) => Err(ManagerError::not_sent(command, error)),
        }
    }
}

fn require_event_id(headers: &Headers) -> Result<(), ManagerErrorKind> {
    let id = headers.event_id.as_ref().map(EventId::as_str);
    match id {
        Some(id) if !id.is_empty() => Ok(()),
        _ => Err(ManagerErrorKind::MissingEventId),
    }
}
