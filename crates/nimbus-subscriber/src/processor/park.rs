use nimbus_messaging::{
    ParkedCopy, ParkedRef, SessionState, derived_message_id, property, random_message_id,
};

use super::{Interruption, Received, Services};
use crate::responder::Outcome;
use crate::session::HeldSession;

impl Services {
    /// Sets a message aside at the tail of its session (SUB-35), telling the resolver first.
    pub(super) async fn park(
        &self,
        message: &Received,
        session: &mut HeldSession,
    ) -> Result<(), Interruption> {
        self.responder
            .send(message.about(), Outcome::Deferred)
            .await?;
        let sequence = session.state().await?.next_deferral_sequence;
        let copy = self.copy_of(message, sequence);
        if holds!(CopyBeforeState) {
            session.park(&copy, SessionState::count_parked).await?;
        } else {
            session.write(SessionState::count_parked).await?;
            session.park(&copy, |_| {}).await?;
        }
        self.tally.parked();
        tracing::info!(
            endpoint = %self.endpoint,
            session = %session.id(),
            message_id = message.headers.message_id.as_deref(),
            sequence,
            "a message is set aside until its session is free"
        );
        Ok(())
    }

    /// The same message under an id of its own, so that the copy's success is told apart from its
    /// source's. Parked again after a crash, it gets the same id (SUB-34).
    fn copy_of(&self, message: &Received, sequence: i64) -> ParkedCopy {
        let source = self.usable_source(message);
        let id = source.as_ref().map_or_else(random_message_id, |source| {
            derived_message_id(&["parked", source])
        });
        let mut envelope = message.envelope.clone();
        envelope.message_id = Some(id.clone());
        envelope
            .properties
            .set(property::DEFERRAL_SEQUENCE, sequence.to_string());
        if let Some(event_id) = &message.headers.event_id {
            envelope
                .properties
                .set(property::EVENT_ID, event_id.as_str());
        }
        match source {
            Some(source) => envelope.properties.set(property::INBOX_MESSAGE_ID, source),
            None => {
                envelope.properties.remove(property::INBOX_MESSAGE_ID);
            }
        }
        ParkedCopy {
            reference: ParkedRef {
                sequence,
                id,
                generation: 0,
            },
            envelope,
        }
    }

    /// The source id that a stand-in of this message carries; none when it can't be deduplicated
    /// (SUB-34).
    pub(super) fn usable_source(&self, message: &Received) -> Option<String> {
        let source = message.source_id()?;
        nimbus_inbox_core::MessageId::new(source)
            .ok()
            .map(|id| id.as_str().to_owned())
    }
}
