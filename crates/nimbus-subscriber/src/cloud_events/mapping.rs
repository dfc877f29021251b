use std::collections::BTreeMap;

use nimbus_messaging::CloudEvent;
use serde::{Deserialize, Serialize};

use super::AttributeSource;

/// How the `type` of a CloudEvent becomes the event type that selects its handler.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EventTypeRule {
    /// It is the event type.
    #[default]
    AsIs,
    /// What stands behind the last dot, as a .NET peer reads it: `OrderPlaced` of
    /// `com.example.OrderPlaced`.
    LastSegment,
    /// What stands behind this prefix; a type that has another start is taken as it is.
    StripPrefix(String),
}

impl EventTypeRule {
    fn apply<'a>(&self, cloud_event_type: &'a str) -> &'a str {
        let rest = match self {
            Self::AsIs => None,
            Self::LastSegment => cloud_event_type.rsplit('.').next(),
            Self::StripPrefix(prefix) => cloud_event_type.strip_prefix(prefix.as_str()),
        };
        rest.filter(|rest| !rest.is_empty())
            .unwrap_or(cloud_event_type)
    }
}

/// How the attributes of a CloudEvent become event type, session and correlation (SUB-06).
///
/// What a NimBus publisher stamped on the message beside them, the properties `EventTypeId` and
/// `EventId`, goes before the rules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CloudEventMapping {
    /// How a type that [`event_types`](Self::event_types) does not name becomes an event type.
    pub event_type: EventTypeRule,
    /// Event types by the CloudEvents types that they are made of.
    pub event_types: BTreeMap<String, String>,
    /// Where the session comes from; the first source that has one counts, and without any, the
    /// broker's session id.
    pub session: Vec<AttributeSource>,
    /// Where the correlation id comes from; the first source that has one counts, and without any,
    /// the broker's correlation id.
    pub correlation: Vec<AttributeSource>,
}

impl Default for CloudEventMapping {
    /// The type as it is; session and correlation of the broker, else the extensions `sessionid` and
    /// `correlationid`, which a .NET peer writes and reads.
    fn default() -> Self {
        Self {
            event_type: EventTypeRule::AsIs,
            event_types: BTreeMap::new(),
            session: vec![AttributeSource::Broker, "sessionid".into()],
            correlation: vec![AttributeSource::Broker, "correlationid".into()],
        }
    }
}

impl CloudEventMapping {
    /// Sets how a type that has no name of its own becomes an event type.
    #[must_use]
    pub fn with_event_type(mut self, rule: EventTypeRule) -> Self {
        self.event_type = rule;
        self
    }

    /// Makes events of one CloudEvents type events of `event_type`.
    #[must_use]
    pub fn with_named_event_type(
        mut self,
        cloud_event_type: impl Into<String>,
        event_type: impl Into<String>,
    ) -> Self {
        self.event_types
            .insert(cloud_event_type.into(), event_type.into());
        self
    }

    /// Sets where the session comes from, in this order.
    #[must_use]
    pub fn with_session_from(
        mut self,
        sources: impl IntoIterator<Item = impl Into<AttributeSource>>,
    ) -> Self {
        self.session = sources.into_iter().map(Into::into).collect();
        self
    }

    /// Sets where the correlation id comes from, in this order.
    #[must_use]
    pub fn with_correlation_from(
        mut self,
        sources: impl IntoIterator<Item = impl Into<AttributeSource>>,
    ) -> Self {
        self.correlation = sources.into_iter().map(Into::into).collect();
        self
    }

    /// The event type that a CloudEvents type becomes.
    pub(super) fn event_type_of<'a>(&'a self, cloud_event_type: &'a str) -> &'a str {
        let named = self.event_types.get(cloud_event_type);
        named.map_or_else(|| self.event_type.apply(cloud_event_type), String::as_str)
    }

    /// The session of an event that the broker delivered in this session.
    pub(super) fn session_of(&self, event: &CloudEvent, broker: Option<&str>) -> Option<String> {
        first(&self.session, event, broker)
    }

    /// The correlation id of an event whose message has this one.
    pub(super) fn correlation_of(
        &self,
        event: &CloudEvent,
        broker: Option<&str>,
    ) -> Option<String> {
        first(&self.correlation, event, broker)
    }
}

/// An empty value is none, as it is at a broker.
fn first(sources: &[AttributeSource], event: &CloudEvent, broker: Option<&str>) -> Option<String> {
    let value_of = |source: &AttributeSource| match source {
        AttributeSource::Broker => broker.map(ToOwned::to_owned),
        AttributeSource::Attribute(name) => event.attribute(name).map(ToOwned::to_owned),
    };
    let mut values = sources.iter().filter_map(value_of);
    values
        .find(|value| !value.is_empty())
        .or_else(|| broker.map(ToOwned::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(members: &str) -> CloudEvent {
        let json =
            format!(r#"{{"specversion":"1.0","id":"7","source":"/shop","type":"a.b.C"{members}}}"#);
        CloudEvent::from_json(json.as_bytes()).unwrap()
    }

    /// SUB-06: the event type is the type, a part of it, or the name a table has for it.
    #[test]
    fn the_type_is_mapped_by_rule_and_table() {
        let of = |mapping: &CloudEventMapping| mapping.event_type_of("a.b.C").to_owned();
        let mapping = CloudEventMapping::default();
        assert_eq!(of(&mapping), "a.b.C");
        let strip = |prefix: &str| EventTypeRule::StripPrefix(prefix.to_owned());
        for (rule, event_type) in [
            (EventTypeRule::LastSegment, "C"),
            (strip("a."), "b.C"),
            (strip("b."), "a.b.C"),
            (strip("a.b.C"), "a.b.C"),
        ] {
            assert_eq!(of(&mapping.clone().with_event_type(rule)), event_type);
        }
        let named = mapping
            .with_event_type(EventTypeRule::LastSegment)
            .with_named_event_type("a.b.C", "OrderPlaced")
            .with_named_event_type("C", "Other");
        assert_eq!(of(&named), "OrderPlaced");
        assert_eq!(EventTypeRule::LastSegment.apply("a."), "a.");
    }

    /// SUB-06: session and correlation come from the first source that has one.
    #[test]
    fn the_first_source_that_has_a_value_counts() {
        let event = event(r#","subject":"s","sessionid":"x","correlationid":"c","empty":"""#);
        let mapping = CloudEventMapping::default();
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(mapping.session_of(&event, Some("b")), some("b"));
        assert_eq!(mapping.session_of(&event, None), some("x"));
        assert_eq!(mapping.correlation_of(&event, Some("b")), some("b"));
        assert_eq!(mapping.correlation_of(&event, None), some("c"));
        let mapping = mapping
            .with_session_from(["missing", "empty", "subject", "from-broker"])
            .with_correlation_from(["missing"]);
        assert_eq!(mapping.session_of(&event, Some("b")), some("s"));
        assert_eq!(mapping.correlation_of(&event, Some("b")), some("b"));
        assert_eq!(mapping.correlation_of(&event, None), None);
    }

    /// SUB-06, SUB-32: the rules have names in configuration, and read back.
    #[test]
    fn the_rules_have_names_in_configuration() {
        let json = r#"{
            "event_type": {"strip-prefix": "com.example."},
            "event_types": {"com.example.order": "OrderPlaced"},
            "session": ["subject", "from-broker"],
            "correlation": ["id"]
        }"#;
        let mapping: CloudEventMapping = serde_json::from_str(json).unwrap();
        let expected = CloudEventMapping::default()
            .with_event_type(EventTypeRule::StripPrefix("com.example.".to_owned()))
            .with_named_event_type("com.example.order", "OrderPlaced")
            .with_session_from([AttributeSource::from("subject"), AttributeSource::Broker])
            .with_correlation_from(["id"]);
        assert_eq!(mapping, expected);
        let written = serde_json::to_string(&mapping).unwrap();
        assert_eq!(
            serde_json::from_str::<CloudEventMapping>(&written).unwrap(),
            mapping
        );
        let least: CloudEventMapping =
            serde_json::from_str(r#"{"event_type":"last-segment"}"#).unwrap();
        let rule = EventTypeRule::LastSegment;
        assert_eq!(least, CloudEventMapping::default().with_event_type(rule));
        assert!(serde_json::from_str::<CloudEventMapping>(r#"{"sesion":[]}"#).is_err());
    }
}
