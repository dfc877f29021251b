use std::collections::BTreeMap;
use std::time::Duration;

use nimbus_inbox_core::config::HumanDuration;
use serde::Deserialize;

use crate::builder::SubscriberBuilder;
use crate::config::keys::KeyPath;
use crate::config::problem::Problems;
use crate::middleware::TimeoutLayer;

/// How long one run of a handler may take (SUB-23).
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct TimeoutSection {
    default: Option<HumanDuration>,
    events: BTreeMap<String, HumanDuration>,
}

/// Limits of handlers; none where there is no limit.
#[derive(Debug, Clone, Default)]
pub(in crate::config) struct Timeouts {
    default: Option<Duration>,
    by_event_type: BTreeMap<String, Duration>,
}

impl TimeoutSection {
    pub(super) fn timeouts(&self, problems: &mut Problems) -> Timeouts {
        let section = KeyPath::root().key("timeout");
        let mut limit = |key: &KeyPath, limit: HumanDuration| {
            if limit.0.is_zero() {
                problems.at_key(
                    key,
                    "handlers get no time at all; give them at least a moment",
                );
            }
            limit.0
        };
        let default = self
            .default
            .map(|value| limit(&section.key("default"), value));
        let events = section.key("events");
        let by_event_type = self.events.iter().map(|(event_type, value)| {
            let value = limit(&events.chosen(event_type), *value);
            (event_type.clone(), value)
        });
        Timeouts {
            default,
            by_event_type: by_event_type.collect(),
        }
    }
}

impl Timeouts {
    /// Limits the handlers, around every layer that is added later.
    pub(in crate::config) fn apply(&self, mut builder: SubscriberBuilder) -> SubscriberBuilder {
        let limits = self.by_event_type.iter();
        if let Some(default) = self.default {
            let mut layer = TimeoutLayer::new(default);
            for (event_type, limit) in limits {
                layer = layer.with_event(event_type, *limit);
                builder = builder.limited_event_type(event_type);
            }
            return builder.layer(layer);
        }
        for (event_type, limit) in limits {
            builder = builder.layer_event(event_type, TimeoutLayer::new(*limit));
        }
        builder
    }
}
