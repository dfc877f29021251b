//! Operators' commands, as they leave the client.
#![expect(clippy::unwrap_used, reason = "a test that can't go on panics")]

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{
    Address, Envelope, EventContent, EventReference, Headers, ManagerClient, ManagerError,
    ManagerErrorKind, MessageContent, MessageType, ScheduledId, Sender, SessionId, TransportError,
    TransportErrorKind,
};

/// Keeps what is sent, or refuses it.
#[derive(Debug, Default)]
struct Recorder {
    sent: Mutex<Vec<Envelope>>,
    refuses: bool,
}

#[async_trait]
impl Sender for Recorder {
    async fn send(&self, messages: Vec<Envelope>) -> Result<(), TransportError> {
        if self.refuses {
            return Err(TransportError::transient("no broker"));
        }
        self.sent.lock().unwrap().extend(messages);
        Ok(())
    }

    async fn schedule(&self, _: Envelope, _: Timestamp) -> Result<ScheduledId, TransportError> {
        Err(TransportError::new(
            TransportErrorKind::Unsupported,
            "nothing is scheduled here",
        ))
    }

    async fn cancel_scheduled(&self, _: &ScheduledId) -> Result<bool, TransportError> {
        Ok(false)
    }
}

impl Recorder {
    fn take(&self) -> Vec<(Headers, MessageContent)> {
        let sent = std::mem::take(&mut *self.sent.lock().unwrap());
        let read = |envelope: &Envelope| {
            (
                Headers::read(envelope).unwrap(),
                MessageContent::decode(&envelope.body).unwrap(),
            )
        };
        sent.iter().map(read).collect()
    }
}

fn client() -> (Arc<Recorder>, ManagerClient) {
    let recorder = Arc::new(Recorder::default());
    let client = ManagerClient::new("BillingEndpoint", Arc::clone(&recorder) as Arc<dyn Sender>);
    (recorder, client)
}

fn event() -> EventContent {
    EventContent {
        event_type_id: Some("OrderPlaced".to_owned()),
        event_json: Some(r#"{"order":"a"}"#.to_owned()),
    }
}

/// SUB-28: each command comes from the manager, is addressed to the endpoint, names event and session,
/// and has a random id of its own, which the call returns.
#[tokio::test]
async fn each_command_is_a_message_of_its_own() {
    let (recorder, client) = client();
    let about = EventReference::new("order-42", "a");
    let session = SessionId::new("order-42").unwrap();
    let mut ids = Vec::new();
    for _ in 0..2 {
        ids.push(client.resubmit(&about, event()).await.unwrap());
        ids.push(client.skip(&about).await.unwrap());
        ids.push(client.complete_handoff(&about).await.unwrap());
        ids.push(client.fail_handoff(&about, " refused ").await.unwrap());
        ids.push(client.drain(&session).await.unwrap());
    }
    let sent = recorder.take();
    let sent_ids: Vec<_> = sent
        .iter()
        .filter_map(|(h, _)| h.message_id.clone())
        .collect();
    assert_eq!(sent_ids, ids);
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), 10);

    let types: Vec<_> = sent
        .iter()
        .map(|(headers, _)| headers.message_type)
        .collect();
    let expected = [
        MessageType::ResubmissionRequest,
        MessageType::SkipRequest,
        MessageType::HandoffCompletedRequest,
        MessageType::HandoffFailedRequest,
        MessageType::ProcessDeferredRequest,
    ];
    assert_eq!(types[..5], expected);
    for (headers, _) in &sent {
        assert_eq!(headers.from, Some(Address::MANAGER));
        assert_eq!(headers.to, Some(Address::from("BillingEndpoint")));
        assert_eq!(headers.session_id.as_deref(), Some("order-42"));
        let names_event = headers.message_type != MessageType::ProcessDeferredRequest;
        assert_eq!(headers.event_id, names_event.then(|| "a".into()));
        assert_eq!(headers.inbox_message_id, None, "INB-17");
    }
    let (headers, content) = &sent[0];
    assert_eq!(content.event_content, Some(event()));
    assert_eq!(headers.event_type_id.as_deref(), Some("OrderPlaced"));
    let error = sent[3].1.error_content.clone().unwrap();
    assert_eq!(error.error_text.as_deref(), Some(" refused "), "SUB-15");
}

/// SUB-28: a command about the event of an outcome keeps its session, conversation and lineage.
#[tokio::test]
async fn a_command_follows_an_outcome() {
    let (recorder, client) = client();
    let outcome = Headers {
        message_id: Some("o-1".to_owned()),
        // At the resolver the event names the session.
        session_id: Some("a".to_owned()),
        original_session_id: Some("order-42".to_owned()),
        event_id: Some("a".into()),
        event_type_id: Some("OrderPlaced".to_owned()),
        correlation_id: Some("c-1".to_owned()),
        originating_message_id: Some("m-0".to_owned()),
        parent_message_id: Some("m-a".to_owned()),
        retry_count: Some(3),
        inbox_message_id: Some("m-a".to_owned()),
        ..Headers::default()
    };
    let content = EventContent {
        event_type_id: None,
        ..event()
    };
    let about = EventReference::of_outcome(&outcome);
    client.resubmit(&about, content).await.unwrap();
    let (headers, _) = recorder.take().remove(0);
    assert_eq!(headers.session_id.as_deref(), Some("order-42"));
    assert_eq!(headers.event_type_id.as_deref(), Some("OrderPlaced"));
    assert_eq!(headers.correlation_id.as_deref(), Some("c-1"));
    assert_eq!(headers.originating_message_id.as_deref(), Some("m-0"));
    assert_eq!(headers.parent_message_id.as_deref(), Some("m-a"));
    // A resubmission begins anew and stands for itself.
    assert_eq!(
        (headers.retry_count, headers.inbox_message_id),
        (None, None)
    );

    // An event without a session can be handled again, and blocks nothing that could be ended.
    let sessionless = EventReference::of_outcome(&Headers {
        original_session_id: None,
        ..outcome
    });
    client.resubmit(&sessionless, event()).await.unwrap();
    assert_eq!(recorder.take()[0].0.session_id, None);
    refused(
        client.skip(&sessionless).await,
        ManagerErrorKind::MissingSession,
    );
}

fn refused(sent: Result<String, ManagerError>, kind: ManagerErrorKind) {
    let error = sent.unwrap_err();
    assert_eq!(error.kind(), kind);
    assert!(!error.is_transient());
}

/// SUB-28: what can't work is refused before anything is sent, and says what is missing.
#[tokio::test]
async fn an_unfinished_command_is_refused() {
    let (recorder, client) = client();
    let no_session = EventReference::new("", "a");
    let no_event = EventReference::new("order-42", "");
    let about = EventReference::new("order-42", "a");
    for (reference, kind) in [
        (&no_session, ManagerErrorKind::MissingSession),
        (&no_event, ManagerErrorKind::MissingEventId),
    ] {
        refused(client.resubmit(reference, event()).await, kind);
        refused(client.skip(reference).await, kind);
        refused(client.complete_handoff(reference).await, kind);
        refused(client.fail_handoff(reference, "refused").await, kind);
    }
    for text in ["", " \n"] {
        let sent = client.fail_handoff(&about, text).await;
        refused(sent, ManagerErrorKind::MissingText);
    }
    for (event_type_id, event_json) in [
        (None, Some("{}")),
        (Some(""), Some("{}")),
        (Some("OrderPlaced"), None),
    ] {
        let content = EventContent {
            event_type_id: event_type_id.map(str::to_owned),
            event_json: event_json.map(str::to_owned),
        };
        let sent = client.resubmit(&about, content).await;
        refused(sent, ManagerErrorKind::MissingEvent);
    }
    assert_eq!(recorder.take(), []);
}

/// SUB-28: a transport that fails is told from a command that can't work.
#[tokio::test]
async fn a_failing_transport_is_named() {
    let recorder = Arc::new(Recorder {
        refuses: true,
        ..Recorder::default()
    });
    let client = ManagerClient::new("BillingEndpoint", recorder);
    let error = client
        .skip(&EventReference::new("s", "a"))
        .await
        .unwrap_err();
    assert_eq!(error.kind(), ManagerErrorKind::Transport);
    assert!(error.is_transient());
    assert_eq!(
        error.to_string(),
        "the SkipRequest was not sent: the transport did not confirm it"
    );
    let source = std::error::Error::source(&error).unwrap();
    assert_eq!(source.to_string(), "no broker");
}
