use nimbus_messaging::{Headers, ParkedCopy, SessionOverview};
use nimbus_resolver::EventRecord;
use serde::Serialize;

use super::{Table, cut, fields, instant};

/// A session in JSON. Names and meanings stay; more may be added.
#[derive(Debug, Serialize)]
pub(crate) struct SessionView {
    endpoint: String,
    session_id: String,
    /// `blocked`, `draining`, `free`, or `unreadable`.
    status: &'static str,
    blocked_by_event_id: Option<String>,
    blocked_by_message_id: Option<String>,
    /// When the event came to the state that the resolver knows; absent where it knows none.
    blocked_since: Option<String>,
    /// The state of the blocking event at the resolver.
    blocked_by_state: Option<&'static str>,
    waits_for_handoff: bool,
    error_type: Option<String>,
    error_text: Option<String>,
    next_retry_at: Option<String>,
    parked: u64,
    deferred_count: Option<i64>,
    deferred_at_broker: Option<usize>,
    #[serde(skip)]
    since: String,
}

/// A parked copy in JSON.
#[derive(Debug, Serialize)]
pub(crate) struct ParkedView {
    sequence: i64,
    event_id: Option<String>,
    event_type: Option<String>,
    message_id: Option<String>,
    copy_id: String,
}

impl SessionView {
    /// A session, and what the resolver knows of the event that blocks it.
    pub(crate) fn new(
        endpoint: &str,
        session: &SessionOverview,
        blocking: Option<&EventRecord>,
    ) -> Self {
        let state = session.state.as_ref();
        let error = state.and_then(|state| state.blocked_by_error.clone());
        let error = error.unwrap_or_default();
        let known = blocking.map(|event| &event.details);
        let since = blocking.map(|event| instant(event.state_since));
        Self {
            endpoint: endpoint.to_owned(),
            session_id: session.id.as_str().to_owned(),
            status: match state {
                None => "unreadable",
                Some(state) if state.is_blocked() => "blocked",
                Some(state) if state.has_deferred() || session.parked > 0 => "draining",
                Some(_) => "free",
            },
            blocked_by_event_id: state.and_then(|state| {
                let event = state.blocked_by_event_id.as_ref();
                event.map(|event| event.as_str().to_owned())
            }),
            blocked_by_message_id: state.and_then(|state| state.blocked_by_message_id.clone()),
            blocked_since: blocking.map(|event| event.state_since.to_string()),
            blocked_by_state: blocking.map(|event| event.state.as_str()),
            waits_for_handoff: state.is_some_and(|state| state.blocked_by_handoff),
            error_type: error
                .error_type
                .or_else(|| known.and_then(|known| known.error_type.clone())),
            error_text: error
                .error_text
                .or_else(|| known.and_then(|known| known.error_text.clone())),
            next_retry_at: known
                .and_then(|known| known.next_retry_at)
                .map(|at| at.to_string()),
            parked: session.parked,
            deferred_count: state.map(|state| state.deferred_count),
            deferred_at_broker: state.map(|state| state.deferred_sequence_numbers.len()),
            since: since.unwrap_or_else(|| "-".to_owned()),
        }
    }

    /// A table of sessions.
    pub(crate) fn table(sessions: &[Self]) -> String {
        let mut table = Table::new(&[
            "session",
            "endpoint",
            "status",
            "blocked by",
            "since",
            "parked",
            "why",
        ]);
        for session in sessions {
            table.row([
                session.session_id.clone(),
                session.endpoint.clone(),
                session.status.to_owned(),
                session.blocker(),
                session.since.clone(),
                session.parked.to_string(),
                cut(&session.why().unwrap_or_default(), 60),
            ]);
        }
        table.render()
    }

    /// Everything about one session.
    pub(crate) fn page(&self, parked: &[ParkedView]) -> String {
        let known = self.blocked_by_state.map(str::to_owned);
        let since = self.blocked_since.as_ref().map(|_| self.since.clone());
        let mut text = fields(&[
            ("session", Some(self.session_id.clone())),
            ("endpoint", Some(self.endpoint.clone())),
            ("status", Some(self.status.to_owned())),
            ("blocked by", self.blocked_by_event_id.clone()),
            ("its message", self.blocked_by_message_id.clone()),
            ("its state", known),
            ("since", since),
            ("why", self.why()),
            ("next retry", self.next_retry_at.clone()),
            ("parked", Some(self.parked.to_string())),
            (
                "deferred at the broker",
                self.deferred_at_broker
                    .filter(|count| *count > 0)
                    .map(|count| count.to_string()),
            ),
        ]);
        if !parked.is_empty() {
            text.push('\n');
            let mut table = Table::new(&["sequence", "event", "type", "message"]);
            for copy in parked {
                let or_dash = |text: &Option<String>| text.clone().unwrap_or_else(|| "-".into());
                table.row([
                    copy.sequence.to_string(),
                    or_dash(&copy.event_id),
                    or_dash(&copy.event_type),
                    or_dash(&copy.message_id),
                ]);
            }
            text.push_str(&table.render());
        }
        text
    }

    fn blocker(&self) -> String {
        self.blocked_by_event_id
            .clone()
            .unwrap_or_else(|| "-".to_owned())
    }

    fn why(&self) -> Option<String> {
        if self.waits_for_handoff {
            return Some("waits for an external job".to_owned());
        }
        match (&self.error_type, &self.error_text) {
            (Some(kind), Some(text)) => Some(format!("{kind}: {text}")),
            (_, text) => text.clone(),
        }
        .filter(|_| self.status == "blocked")
    }
}

impl From<&ParkedCopy> for ParkedView {
    fn from(copy: &ParkedCopy) -> Self {
        // A copy that can't be read is dead-lettered when its turn comes.
        let headers = Headers::read(&copy.envelope).unwrap_or_default();
        Self {
            sequence: copy.reference.sequence,
            event_id: headers.event_id.map(|id| id.as_str().to_owned()),
            event_type: headers.event_type_id,
            message_id: headers.inbox_message_id,
            copy_id: copy.reference.id.clone(),
        }
    }
}
