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
    error_contains: Option<String>,
    event_type: Option<String>,
    policy: Option<Policy>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Policy {
    backoff: Option<BackoffName>,
    delay: Option<HumanDuration>,
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
        let default = self.default.as_ref();
        let events = section.key("events");
        let by_event_type = self.events.iter().filter_map(|(event_type, policy)| {
            let policy = policy.policy(&events.chosen(event_type), problems)?;
            Some((event_type.clone(), policy))
        });
        let by_event_type = by_event_type.collect();
        let rules = section.key("rules");
        let made = self.rules.iter().enumerate();
        let made = made.filter_map(|(index, rule)| rule.rule(&rules.element(index), problems));
        RetryPolicies {
            rules: made.collect(),
            by_event_type,
            default: default.and_then(|policy| policy.policy(&section.key("default"), problems)),
        }
    }
}

impl Rule {
    fn rule(&self, key: &KeyPath, problems: &mut Problems) -> Option<RetryRule> {
        let text = self.error_contains.as_deref();
        match text {
            None => problems.missing(&key.key("error_contains"), None),
            Some("") => {
                let problem = "every text contains nothing; set retry.default to retry them all";
                problems.at_key(&key.key("error_contains"), problem);
            }
            Some(_) => {}
        }
        let at = key.key("policy");
        if self.policy.is_none() {
            problems.missing(&at, None);
        }
        let policy = self.policy.as_ref()?.policy(&at, problems)?;
        let rule = RetryRule::error_contains(text?, policy);
        Some(match &self.event_type {
            Some(event_type) => rule.for_event(event_type),
            None => rule,
        })
    }
}

impl Policy {
    fn policy(&self, key: &KeyPath, problems: &mut Problems) -> Option<RetryPolicy> {
        let jitter = self.jitter(&key.key("jitter_share"), problems);
        let Some(HumanDuration(delay)) = self.delay else {
            problems.missing(&key.key("delay"), None);
            return None;
        };
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
        Some(match jitter {
            Some(jitter) => policy.jitter(jitter),
            None => policy,
        })
    }

    /// The jitter, unless it is the backoff's own.
    fn jitter(&self, share_key: &KeyPath, problems: &mut Problems) -> Option<Jitter> {
        let bounds = "bounded jitter takes a share of the delay, from 0 to 1";
        if self.jitter.is_none() && self.jitter_share.is_some() {
            problems.at_key(share_key, "only jitter = \"bounded\" takes a share");
        }
        match (self.jitter?, self.jitter_share) {
            (JitterName::None, None) => return Some(Jitter::None),
            (JitterName::Full, None) => return Some(Jitter::Full),
            (JitterName::Bounded, Some(share)) if (0.0..=1.0).contains(&share) => {
                return Some(Jitter::Bounded(share));
            }
            (JitterName::Bounded, Some(_)) => problems.at_key(share_key, bounds),
            (JitterName::Bounded, None) => problems.missing(share_key, Some(bounds)),
            (JitterName::None | JitterName::Full, Some(_)) => {
                problems.at_key(share_key, "only jitter = \"bounded\" takes a share");
            }
        }
        None
    }
}
