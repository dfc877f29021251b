use nimbus_inbox_core::{CompletionKeys, InboxKey, Routing, Timestamp};

use super::{Interruption, Received, Services};
use crate::lifecycle::{DuplicateDetected, Signal};
use crate::responder::Outcome;

/// The keys of one message; empty without an inbox.
#[derive(Debug, Default)]
pub(super) struct Identity {
    /// The message's own id, if it is usable.
    own: Option<InboxKey>,
    /// The source id that a stand-in carries, if it is usable (SUB-34).
    source: Option<InboxKey>,
}

impl Identity {
    /// The same message, whose success also completes the one with this key.
    pub(super) fn resolving(self, source: Option<InboxKey>) -> Self {
        Self { source, ..self }
    }
}

/// Proof that a message's work was recorded before.
#[derive(Debug)]
pub(super) struct Duplicate {
    key: InboxKey,
    first_recorded: Timestamp,
}

impl Services {
    /// The keys of a message. One that can't be deduplicated is warned about and goes on (INB-03).
    pub(super) fn identify(&self, message: &Received) -> Identity {
        let Some(inbox) = &self.inbox else {
            return Identity::default();
        };
        let headers = &message.headers;
        Identity {
            own: inbox.admit(headers.message_id.as_deref()).key().cloned(),
            source: headers
                .inbox_message_id
                .as_deref()
                .and_then(|id| inbox.key(Some(id)).ok()),
        }
    }

    /// Looks for the message's own id, and for its source id where that counts: a parked copy is
    /// also a duplicate by its source, a retry is not (INB-18).
    pub(super) async fn find_duplicate(
        &self,
        identity: &Identity,
        by_source: bool,
    ) -> Result<Option<Duplicate>, Interruption> {
        let Some(inbox) = &self.inbox else {
            return Ok(None);
        };
        let source = identity.source.iter().filter(|_| by_source);
        let keys: Vec<InboxKey> = identity.own.iter().chain(source).cloned().collect();
        let found = inbox.check_any(&keys).await?;
        Ok(found.map(|(key, first_recorded)| Duplicate {
            key: key.clone(),
            first_recorded,
        }))
    }

    /// Tells everyone that a message is skipped (INB-09).
    pub(super) async fn report_duplicate(
        &self,
        message: &Received,
        duplicate: &Duplicate,
    ) -> Result<(), Interruption> {
        let headers = &message.headers;
        if let Some(inbox) = &self.inbox {
            let routing = Routing::default()
                .with_message_type(headers.message_type.as_str())
                .with_event_type(headers.event_type_id.as_deref())
                .with_event_id(headers.event_id.as_ref().map(|id| id.as_str()))
                .with_session_id(headers.session_id.as_deref())
                .with_correlation_id(headers.correlation_id.as_deref());
            inbox.duplicate_detected(&duplicate.key, Some(duplicate.first_recorded), &routing);
        }
        self.lifecycle
            .tell(Signal::DuplicateDetected(DuplicateDetected {
                endpoint: &self.endpoint,
                headers,
                first_recorded: duplicate.first_recorded,
            }))
            .await;
        self.responder
            .send(message.about(), Outcome::Duplicate)
            .await?;
        self.tally.duplicate();
        Ok(())
    }

    /// Records a success: the source first, then the message's own id (INB-15).
    pub(super) async fn record(&self, identity: Identity) -> Result<(), Interruption> {
        if let Some(inbox) = &self.inbox {
            inbox
                .record(&CompletionKeys::new(identity.source, identity.own))
                .await?;
            self.intake.recorded();
        }
        Ok(())
    }
}
