use nimbus_messaging::is_attribute_name;

use super::{AttributeSource, CloudEventMapping, ContentMode, EventTypeRule};
use crate::handler::Handlers;

impl CloudEventMapping {
    /// What is wrong with it, for the handlers of an endpoint in this mode.
    pub(crate) fn problems(&self, mode: ContentMode, handlers: &Handlers) -> Vec<String> {
        let mut problems = Vec::new();
        if mode == ContentMode::Native {
            if *self != Self::default() {
                problems.push(
                    "a mapping of CloudEvents has no effect in the content mode `native`; choose \
                     `auto-detect` or `cloud-events`"
                        .to_owned(),
                );
            }
            return problems;
        }
        if self.event_type == EventTypeRule::StripPrefix(String::new()) {
            problems.push("the prefix to strip from CloudEvents types is empty".to_owned());
        }
        for (cloud_event_type, event_type) in &self.event_types {
            if handlers.get(event_type).is_none() {
                problems.push(format!(
                    "the CloudEvents type {cloud_event_type:?} is mapped to {event_type:?}, which \
                     has no handler"
                ));
            }
        }
        for (what, sources) in [
            ("session", &self.session),
            ("correlation", &self.correlation),
        ] {
            problems.extend(sources.iter().filter_map(|source| match source {
                AttributeSource::Attribute(name) if !is_attribute_name(name) => Some(format!(
                    "the {what} of a CloudEvent can't come from {name:?}, which is no name of an \
                     attribute: those are lower-case letters and digits, and `from-broker` is the \
                     broker's own field"
                )),
                _ => None,
            }));
        }
        problems
    }
}
