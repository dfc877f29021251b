//! A queue file in a directory of its own, on a clock that the test moves.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_testing::ManualClock;
use nimbus_messaging::{
    Address, Delivery, Envelope, Lane, LaneSource, Sender, SessionId, Transport, TransportError,
    TransportErrorKind,
};
use nimbus_transport_embedded::{EmbeddedOptions, EmbeddedTransport};
use tempfile::TempDir;

/// For what comes at once unless the machine is busy.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) const LOCK: Duration = Duration::from_secs(30);

pub(crate) struct Machine {
    pub(crate) clock: ManualClock,
    directory: TempDir,
}

impl Machine {
    pub(crate) fn new() -> Self {
        Self {
            clock: ManualClock::default(),
            directory: tempfile::tempdir().expect("a temporary directory"),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("queue.db")
    }

    pub(crate) fn options(&self) -> EmbeddedOptions {
        EmbeddedOptions::default()
            .with_clock(self.clock.clone())
            .with_lock_duration(LOCK)
            .with_poll_interval(Duration::from_millis(2))
    }

    /// Opens the file once more, as another process would.
    pub(crate) async fn process(&self) -> EmbeddedTransport {
        self.process_with(self.options()).await
    }

    pub(crate) async fn process_with(&self, options: EmbeddedOptions) -> EmbeddedTransport {
        let transport = EmbeddedTransport::open_with(self.path(), options)
            .await
            .expect("a file of our own");
        transport.verify(&billing()).await.expect("declared");
        transport
    }
}

pub(crate) fn billing() -> EndpointId {
    EndpointId::new("BillingEndpoint").expect("a name")
}

pub(crate) fn session(name: &str) -> SessionId {
    SessionId::new(name).expect("a name")
}

pub(crate) fn message(session: &str, id: &str) -> Envelope {
    Envelope {
        message_id: Some(id.to_owned()),
        session_id: (!session.is_empty()).then(|| session.to_owned()),
        body: format!("body of {id}").into(),
        ..Envelope::default()
    }
}

pub(crate) async fn sender(transport: &EmbeddedTransport) -> Arc<dyn Sender> {
    transport
        .sender(&Address::from("BillingEndpoint"))
        .await
        .expect("any address")
}

pub(crate) async fn send(transport: &EmbeddedTransport, messages: &[(&str, &str)]) {
    let messages = messages.iter().map(|(session, id)| message(session, id));
    sender(transport)
        .await
        .send(messages.collect())
        .await
        .expect("declared");
}

pub(crate) async fn lanes(transport: &EmbeddedTransport) -> Box<dyn LaneSource> {
    transport.lanes(&billing()).await.expect("declared")
}

/// The next lane of a source of its own.
pub(crate) async fn accept(transport: &EmbeddedTransport) -> Box<dyn Lane> {
    let mut lanes = lanes(transport).await;
    let accepted = tokio::time::timeout(PATIENCE, lanes.accept_next()).await;
    accepted
        .expect("a lane comes")
        .expect("the file answers")
        .expect("not stopped")
}

/// Returns after every call that was made before has acted on the file, which has one writer.
pub(crate) async fn all_before_acted(transport: &EmbeddedTransport) {
    transport.declare("Fence").await.expect("a free name");
}

/// What is due now.
pub(crate) async fn receive(lane: &mut Box<dyn Lane>) -> Option<Delivery> {
    lane.receive(Duration::ZERO).await.expect("locked")
}

pub(crate) async fn receive_id(lane: &mut Box<dyn Lane>) -> Option<String> {
    receive(lane).await.map(|delivery| id(&delivery))
}

pub(crate) fn id(delivery: &Delivery) -> String {
    delivery.envelope.message_id.clone().unwrap_or_default()
}

/// Receives and completes until nothing is due.
pub(crate) async fn complete_all(lane: &mut Box<dyn Lane>) -> Vec<String> {
    let mut ids = Vec::new();
    while let Some(delivery) = receive(lane).await {
        ids.push(id(&delivery));
        delivery.receipt.complete().await.expect("locked");
    }
    ids
}

#[track_caller]
pub(crate) fn assert_lock_lost<T: std::fmt::Debug>(outcome: Result<T, TransportError>) {
    let error = outcome.expect_err("the lock is gone");
    assert_eq!(error.kind(), TransportErrorKind::LockLost, "{error}");
}
