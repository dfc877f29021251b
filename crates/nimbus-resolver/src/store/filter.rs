//! Which events are meant, as a condition.

use nimbus_inbox_core::Timestamp;
use nimbus_sqlite::rusqlite::types::Value;

use crate::EventState;

/// Which events are asked for; all of them unless set.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct EventFilter {
    endpoint: Option<String>,
    states: Vec<EventState>,
    event_type: Option<String>,
    session: Option<String>,
    text: Option<String>,
    since: Option<Timestamp>,
}

impl EventFilter {
    /// Those of this endpoint.
    #[must_use]
    pub fn with_endpoint(mut self, endpoint: &str) -> Self {
        self.endpoint = Some(endpoint.to_ascii_lowercase());
        self
    }

    /// Those in one of these states; none given means in any.
    #[must_use]
    pub fn with_states(mut self, states: impl IntoIterator<Item = EventState>) -> Self {
        self.states = states.into_iter().collect();
        self
    }

    /// Those of this type.
    #[must_use]
    pub fn with_event_type(mut self, event_type: impl Into<String>) -> Self {
        self.event_type = Some(event_type.into());
        self
    }

    /// Those of this session.
    #[must_use]
    pub fn with_session(mut self, session: impl Into<String>) -> Self {
        self.session = Some(session.into());
        self
    }

    /// Those that have this text in an id, in the error that led to their state, or in their
    /// content. ASCII case doesn't count.
    #[must_use]
    pub fn with_text(mut self, text: impl Into<String>) -> Self {
        self.text = Some(text.into());
        self
    }

    /// Those that were heard of at or after this instant.
    #[must_use]
    pub fn with_since(mut self, since: Timestamp) -> Self {
        self.since = Some(since);
        self
    }

    /// The condition and its values.
    pub(super) fn condition(&self) -> (String, Vec<Value>) {
        let mut conditions = vec!["1 = 1".to_owned()];
        let mut values: Vec<Value> = Vec::new();
        let mut equal = |column: &str, value: &Option<String>| {
            if let Some(value) = value {
                values.push(value.clone().into());
                conditions.push(format!("{column} = ?{}", values.len()));
            }
        };
        equal("event.endpoint_key", &self.endpoint);
        equal("event.event_type", &self.event_type);
        equal("event.session_id", &self.session);
        if !self.states.is_empty() {
            let names: Vec<String> = self
                .states
                .iter()
                .map(|state| format!("'{}'", state.as_str()))
                .collect();
            conditions.push(format!("event.state in ({})", names.join(", ")));
        }
        if let Some(since) = self.since {
            values.push(since.unix_ticks().into());
            conditions.push(format!("event.last_seen >= ?{}", values.len()));
        }
        if let Some(text) = &self.text {
            values.push(pattern(text).into());
            let at = values.len();
            let any: Vec<String> = [
                "event.event_id",
                "event.message_id",
                "event.session_id",
                "event.correlation_id",
                "event.cloud_event_id",
                "event.cloud_event_source",
                "report.error_text",
                "report.error_type",
                "report.dead_letter_description",
                "event.event_json",
            ]
            .into_iter()
            .map(|column| format!("{column} like ?{at} escape '\\'"))
            .collect();
            conditions.push(format!("({})", any.join(" or ")));
        }
        (conditions.join(" and "), values)
    }
}

/// A pattern that finds `text` as it is.
fn pattern(text: &str) -> String {
    let mut pattern = String::from("%");
    for character in text.chars() {
        if matches!(character, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(character);
    }
    pattern.push('%');
    pattern
}
