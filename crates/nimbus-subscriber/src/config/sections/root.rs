use std::num::NonZeroU32;
use std::time::Duration;

use nimbus_inbox_core::EndpointId;
use nimbus_inbox_core::InboxOptions;
use nimbus_inbox_core::config::HumanDuration;
use serde::Deserialize;

use super::circuit_breaker::CircuitBreakerSection;
use super::inbox::InboxSection;
use super::retry::RetrySection;
use super::timeout::{TimeoutSection, Timeouts};
use crate::circuit_breaker::CircuitBreaker;
use crate::cloud_events::{CloudEventMapping, ContentMode};
use crate::config::keys::KeyPath;
use crate::config::problem::Problems;
use crate::retry::RetryPolicies;

/// A whole file, without what belongs to providers and other programs.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct Root {
    endpoint: Option<String>,
    concurrent_sessions: Option<NonZeroU32>,
    session_idle: Option<HumanDuration>,
    drain_deadline: Option<HumanDuration>,
    content_mode: Option<ContentMode>,
    #[cfg(feature = "opentelemetry")]
    inbound_trace: Option<crate::telemetry::InboundTrace>,
    pub(in crate::config) transport: Option<TransportSection>,
    pub(in crate::config) inbox: Option<InboxSection>,
    pub(in crate::config) session_store: Option<SessionStoreSection>,
    retry: RetrySection,
    timeout: TimeoutSection,
    circuit_breaker: Option<CircuitBreakerSection>,
    cloud_events: Option<CloudEventMapping>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct TransportSection {
    pub(in crate::config) name: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(in crate::config) struct SessionStoreSection {
    pub(in crate::config) store: Option<String>,
}

/// Whether a section or key of this name is one of the subscriber's.
pub(in crate::config) fn is_ours(name: &str) -> bool {
    crate::config::keys::keys_of::<Root>().get(name).is_some()
}

/// What the subscriber's builder takes; absent is its default.
#[derive(Debug, Clone)]
pub(in crate::config) struct SubscriberOptions {
    pub(in crate::config) concurrent_sessions: Option<usize>,
    pub(in crate::config) session_idle: Option<Duration>,
    pub(in crate::config) drain_deadline: Option<Duration>,
    pub(in crate::config) retries: RetryPolicies,
    pub(in crate::config) timeouts: Timeouts,
    pub(in crate::config) circuit_breaker: Option<CircuitBreaker>,
    pub(in crate::config) content_mode: Option<ContentMode>,
    pub(in crate::config) cloud_events: Option<CloudEventMapping>,
    #[cfg(feature = "opentelemetry")]
    pub(in crate::config) inbound_trace: Option<crate::telemetry::InboundTrace>,
}

impl Root {
    pub(in crate::config) fn endpoint(&self, problems: &mut Problems) -> Option<EndpointId> {
        let key = KeyPath::root().key("endpoint");
        let Some(name) = &self.endpoint else {
            let advice = "name the endpoint, such as \"BillingEndpoint\"";
            problems.missing(&key, Some(advice));
            return None;
        };
        EndpointId::new(name)
            .map_err(|reason| problems.at_key(&key, format!("the endpoint's name is {reason}")))
            .ok()
    }

    pub(in crate::config) fn inbox_options(&self, problems: &mut Problems) -> InboxOptions {
        match &self.inbox {
            Some(inbox) => inbox.options(problems),
            None => InboxOptions::default(),
        }
    }

    pub(in crate::config) fn options(&self, problems: &mut Problems) -> SubscriberOptions {
        if self.session_idle.is_some_and(|idle| idle.0.is_zero()) {
            problems.at_key(
                &KeyPath::root().key("session_idle"),
                "an idle session is kept for no time at all; keep it at least a moment",
            );
        }
        let sessions = self.concurrent_sessions.map(NonZeroU32::get);
        SubscriberOptions {
            concurrent_sessions: sessions.map(|count| usize::try_from(count).unwrap_or(usize::MAX)),
            session_idle: self.session_idle.map(Duration::from),
            drain_deadline: self.drain_deadline.map(Duration::from),
            retries: self.retry.policies(problems),
            timeouts: self.timeout.timeouts(problems),
            circuit_breaker: self
                .circuit_breaker
                .as_ref()
                .and_then(|section| section.breaker(problems)),
            content_mode: self.content_mode,
            cloud_events: self.cloud_events.clone(),
            #[cfg(feature = "opentelemetry")]
            inbound_trace: self.inbound_trace,
        }
    }
}
