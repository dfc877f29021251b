//! Reports by hand, and a database of their own.

use std::future::Future;
use std::time::Duration;

use nimbus_inbox_core::Timestamp;
use nimbus_messaging::{
    Address, Envelope, ErrorContent, EventContent, Headers, MessageContent, MessageType,
};
use nimbus_resolver::{EventKey, EventRecord, EventState, Report, ResolverStore};
use tempfile::TempDir;

pub(crate) const ENDPOINT: &str = "BillingEndpoint";

pub(crate) struct Fixture {
    pub(crate) directory: TempDir,
    pub(crate) store: ResolverStore,
}

impl Fixture {
    pub(crate) async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let store = ResolverStore::open(directory.path().join("resolver.db"))
            .await
            .unwrap();
        Self { directory, store }
    }

    pub(crate) async fn apply(&self, told: Told) {
        self.store.apply(vec![told.report()]).await.unwrap();
    }

    pub(crate) async fn event(&self, id: &str) -> EventRecord {
        self.find(id).await.expect("the event is known")
    }

    pub(crate) async fn find(&self, id: &str) -> Option<EventRecord> {
        let key = EventKey::new(ENDPOINT, id);
        self.store.event(&key).await.unwrap()
    }

    pub(crate) async fn state(&self, id: &str) -> EventState {
        self.event(id).await.state
    }
}

/// The instant `seconds` after the test's beginning of time.
pub(crate) fn at(seconds: u64) -> Timestamp {
    let start = Timestamp::from_unix_ticks(17_000_000_000_000_000);
    start.saturating_add(Duration::from_secs(seconds))
}

/// A message that tells something of an event.
#[derive(Debug, Clone)]
pub(crate) struct Told {
    pub(crate) headers: Headers,
    pub(crate) content: MessageContent,
    pub(crate) sent: u64,
}

impl Told {
    /// An outcome about the event `id`, sent so many seconds after the start. It is about the
    /// event itself, and what it tells of took no time.
    pub(crate) fn outcome(message_type: MessageType, id: &str, sent: u64) -> Self {
        let headers = Headers {
            message_id: Some(format!("o-{id}-{message_type}-{sent}")),
            session_id: Some(id.to_owned()),
            message_type,
            from: Some(Address::from(ENDPOINT)),
            to: Some(Address::RESOLVER),
            event_id: Some(id.into()),
            event_type_id: Some("OrderPlaced".to_owned()),
            original_session_id: Some("s".to_owned()),
            parent_message_id: Some(format!("m-{id}")),
            parent_message_type: Some(MessageType::EventRequest),
            processing_time_ms: Some(0),
            ..Headers::default()
        };
        Self {
            headers,
            content: MessageContent {
                event_content: Some(EventContent {
                    event_type_id: Some("OrderPlaced".to_owned()),
                    event_json: Some(format!(r#"{{"order":"{id}"}}"#)),
                }),
                error_content: None,
            },
            sent,
        }
    }

    pub(crate) fn failed(id: &str, sent: u64, text: &str) -> Self {
        Self::outcome(MessageType::ErrorResponse, id, sent).with_error(text)
    }

    pub(crate) fn completed(id: &str, sent: u64) -> Self {
        Self::outcome(MessageType::ResolutionResponse, id, sent)
    }

    pub(crate) fn duplicate(id: &str, sent: u64) -> Self {
        Self::outcome(MessageType::SkipResponse, id, sent).with_error("DuplicateDetected")
    }

    pub(crate) fn with(mut self, change: impl FnOnce(&mut Headers)) -> Self {
        change(&mut self.headers);
        self
    }

    pub(crate) fn with_error(mut self, text: &str) -> Self {
        self.content.error_content = Some(ErrorContent {
            error_text: Some(text.to_owned()),
            error_type: Some("Problem".to_owned()),
            ..ErrorContent::default()
        });
        self
    }

    pub(crate) fn by(self, message_type: MessageType) -> Self {
        self.with(|headers| headers.parent_message_type = Some(message_type))
    }

    pub(crate) fn retry_at(self, seconds: u64) -> Self {
        self.with(|headers| headers.next_retry_at = Some(at(seconds)))
    }

    pub(crate) fn took(self, seconds: i64) -> Self {
        self.with(|headers| headers.processing_time_ms = Some(seconds * 1_000))
    }

    pub(crate) fn envelope(&self) -> Envelope {
        self.headers.clone().into_envelope(&self.content)
    }

    pub(crate) fn report(&self) -> Report {
        let sent = at(self.sent);
        Report::read(&self.envelope(), Some(sent), sent)
            .expect("it can be read")
            .expect("it tells of an event")
    }
}

/// Waits for what another task does.
pub(crate) async fn until<F: Future<Output = bool> + Send>(
    condition: impl Fn() -> F + Send + Sync,
) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), waiting)
        .await
        .expect("it comes within a minute");
}
