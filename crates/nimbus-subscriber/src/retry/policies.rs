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

    /// The event types that policies and rules are for.
    pub(crate) fn event_types(&self) -> impl Iterator<Item = &String> {
        let of_rules = self
            .rules
            .iter()
            .filter_map(|rule| rule.event_type.as_ref());
        self.by_event_type.keys().chain(of_rules)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.rules.is_empty() && self.by_event_type.is_empty() && self.default.is_none()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn policy(seconds: u64) -> RetryPolicy {
        RetryPolicy::fixed(Duration::from_secs(seconds))
    }

    /// SUB-20: error rules in order, for any event type or for one; then the event type's policy;
    /// then the default.
    #[test]
    fn the_most_specific_policy_counts() {
        let policies = RetryPolicies {
            rules: vec![
                RetryRule::error_contains("Timeout", policy(1)).for_event("OrderPaid"),
                RetryRule::error_contains("TIMEOUT of the bank", policy(2)),
                RetryRule::error_contains("timeout", policy(3)),
            ],
            by_event_type: BTreeMap::from([("OrderPaid".to_owned(), policy(4))]),
            default: Some(policy(5)),
        };
        let chosen =
            |event_type, error_type, text| policies.select(event_type, error_type, text).cloned();
        assert_eq!(
            chosen("OrderPaid", "Io", "timeout of the bank"),
            Some(policy(1))
        );
        assert_eq!(
            chosen("OrderPlaced", "Io", "timeout of the bank"),
            Some(policy(2))
        );
        assert_eq!(chosen("OrderPlaced", "TimeoutError", "?"), Some(policy(3)));
        assert_eq!(chosen("OrderPaid", "Io", "no stock"), Some(policy(4)));
        assert_eq!(chosen("OrderPlaced", "Io", "no stock"), Some(policy(5)));
        let none = RetryPolicies::default();
        assert_eq!(none.select("OrderPlaced", "Io", "timeout"), None);
        assert!(none.is_empty() && !policies.is_empty());
    }
}
