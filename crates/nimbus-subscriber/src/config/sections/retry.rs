use std::collections::BTreeMap;

use nimbus_inbox_core::config::HumanDuration;
use serde::Deserialize;

use crate::config::keys::KeyPath;
use crate::config::problem::Problems;
use crate::retry::{Jitter, RetryPolicies, RetryPolicy, RetryRule};

/// When failed events are tried again (SUB-20).
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct RetrySection {
    default: Option<Policy>,
    events: BTreeMap<String, Policy>,
    rules: Vec<Rule>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    error_contains: String,
    event_type: Option<String>,
    policy: Policy,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Policy {
    backoff: Option<BackoffName>,
    delay: HumanDuration,
    max_delay: Option<HumanDuration>,
    max_retries: Option<u32>,
    jitter: Option<JitterName>,
    jitter_share: Option<f64>,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum BackoffName {
    Fixed,
    Linear,
    Exponential,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum JitterName {
    None,
    Full,
    Bounded,
}

impl RetrySection {
    pub(super) fn policies(&self, problems: &mut Problems) -> RetryPolicies {
        let section = KeyPath::root().key("retry");
        let mut policies = RetryPolicies::default();
        if let Some(policy) = &self.default {
            policies.default = Some(policy.policy(&section.key("default"), problems));
        }
        let events = section.key("events");
        for (event_type, policy) in &self.events {
            let policy = policy.policy(&events.chosen(event_type), problems);
            policies.by_event_type.insert(event_type.clone(), policy);
        }
        let rules = section.key("rules");
        for (index, rule) in self.rules.iter().enumerate() {
            let key = rules.element(index);
            let policy = rule.policy.policy(&key.key("policy"), problems);
            if rule.error_contains.is_empty() {
                let problem = "every text contains nothing; set retry.default to retry them all";
                problems.at_key(&key.key("error_contains"), problem);
            }
            let mut made = RetryRule::error_contains(&rule.error_contains, policy);
            if let Some(event_type) = &rule.event_type {
                made = made.for_event(event_type);
            }
            policies.rules.push(made);
        }
        policies
    }
}

impl Policy {
    fn policy(&self, key: &KeyPath, problems: &mut Problems) -> RetryPolicy {
        let delay = self.delay.0;
        let mut policy = match self.backoff.unwrap_or(BackoffName::Exponential) {
            BackoffName::Fixed => RetryPolicy::fixed(delay),
            BackoffName::Linear => RetryPolicy::linear(delay),
            BackoffName::Exponential => RetryPolicy::exponential(delay),
        };
        if let Some(longest) = self.max_delay {
            policy = policy.max_delay(longest.0);
        }
        if let Some(retries) = self.max_retries {
            policy = policy.max_retries(retries);
        }
        match (self.jitter, self.jitter_share) {
            (None, None) => policy,
            (Some(JitterName::None), None) => policy.jitter(Jitter::None),
            (Some(JitterName::Full), None) => policy.jitter(Jitter::Full),
            (Some(JitterName::Bounded), Some(share)) if (0.0..=1.0).contains(&share) => {
                policy.jitter(Jitter::Bounded(share))
            }
            (Some(JitterName::Bounded), Some(_)) => {
                let problem = "it takes a share of the delay, from 0 to 1";
                problems.at_key(&key.key("jitter_share"), problem);
                policy
            }
            (Some(JitterName::Bounded), None) => {
                let problem = "this key is missing; bounded jitter takes a share of the delay, \
                               from 0 to 1";
                problems.at_key(&key.key("jitter_share"), problem);
                policy
            }
            (_, Some(_)) => {
                let problem = "only jitter = \"bounded\" takes a share";
                problems.at_key(&key.key("jitter_share"), problem);
                policy
            }
        }
    }
}
