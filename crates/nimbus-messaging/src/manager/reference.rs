use crate::model::{EventId, Headers};

/// Names an event and the session that it belongs to.
#[derive(Debug, Clone, PartialEq)]
pub struct EventReference {
    /// What a command about the event says of it.
    headers: Headers,
}

impl EventReference {
    /// An event by its id, in a session.
    #[must_use]
    pub fn new(session: impl Into<String>, event_id: impl Into<EventId>) -> Self {
        Self {
            headers: Headers {
                session_id: Some(session.into()),
                event_id: Some(event_id.into()),
                ..Headers::default()
            },
        }
    }

    /// The event that an outcome message is about, as the resolver receives it: its session,
    /// conversation and lineage are kept.
    ///
    /// An event without a session blocks nothing: it can be resubmitted, and nothing else.
    #[must_use]
    pub fn of_outcome(outcome: &Headers) -> Self {
        let outcome = outcome.clone();
        Self {
            headers: Headers {
                session_id: outcome.original_session_id,
                event_id: outcome.event_id,
                event_type_id: outcome.event_type_id,
                correlation_id: outcome.correlation_id,
                originating_message_id: outcome.originating_message_id,
                originating_from: outcome.originating_from,
                parent_message_id: outcome.parent_message_id,
                cloud_event_id: outcome.cloud_event_id,
                cloud_event_source: outcome.cloud_event_source,
                cloud_event_type: outcome.cloud_event_type,
                cloud_event_subject: outcome.cloud_event_subject,
                ..Headers::default()
            },
        }
    }

    pub(super) fn headers(&self) -> &Headers {
        &self.headers
    }
}
