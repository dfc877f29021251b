use std::collections::BTreeMap;

use super::RetryPolicy;

/// A policy for failures whose text contains something, optionally of one event type only.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryRule {
    text: String,
    event_type: Option<String>,
    policy: RetryPolicy,
}

impl RetryRule {
    /// Applies `policy` to failures whose text or error type contains `text`, ignoring ASCII case.
    #[must_use]
    pub fn error_contains(text: impl Into<String>, policy: RetryPolicy) -> Self {
        Self {
            text: text.into().to_ascii_lowercase(),
            event_type: None,
            policy,
        }
    }

    /// Only for events of this type.
    #[must_use]
    pub fn for_event(mut self, event_type: impl Into<String>) -> Self {
        self.event_type = Some(event_type.into());
        self
    }

    fn matches(&self, event_type: &str, error: &str) -> bool {
        self.event_type
            .as_deref()
            .is_none_or(|only| only == event_type)
            && error.contains(&self.text)
    }
}

/// Error rules in order, then policies by event type, then the default (SUB-20).
#[derive(Debug, Clone, Default)]
pub(crate) struct RetryPolicies {
    pub(crate) rules: Vec<RetryRule>,
    pub(crate) by_event_type: BTreeMap<String, RetryPolicy>,
    pub(crate) default: Option<RetryPolicy>,
}

impl RetryPolicies {
    pub(crate) fn select(
        &self,
        event_type: &str,
        error_type: &str,
        error_text: &str,
    ) -> Option<&RetryPolicy> {
        let error = format!("{error_type}: {error_text}").to_ascii_lowercase();
        self.rules
            .iter()
            .find(|rule| rule.matches(event_type, &error))
            .map(|rule| &rule.policy)
            .or_else(|| self.by_event_type.get(event_type))
            .or(self.default.as_ref())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.by_event_type.is_empty() && self.default.is_none()
    }
}
