use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nimbus_inbox_core::{InboxKey, Operation};

use super::StoreCall;

type Predicate = Arc<dyn Fn(StoreCall<'_>) -> bool + Send + Sync>;

/// The condition of a rule: which calls it concerns.
///
/// Calls are numbered per rule, from 1, over those that meet the rest of the condition since the
/// rule was set.
#[derive(Clone)]
#[must_use]
pub struct When {
    operation: Option<Operation>,
    predicate: Option<Predicate>,
    numbers: RangeInclusive<u64>,
}

impl When {
    /// Every call.
    pub fn any() -> Self {
        Self {
            operation: None,
            predicate: None,
            numbers: 1..=u64::MAX,
        }
    }

    /// Every verification.
    pub fn verify() -> Self {
        Self::operation(Operation::Verify)
    }

    /// Every check.
    pub fn check() -> Self {
        Self::operation(Operation::Check)
    }

    /// Every record.
    pub fn record() -> Self {
        Self::operation(Operation::Record)
    }

    /// Every purge.
    pub fn purge() -> Self {
        Self::operation(Operation::Purge)
    }

    /// Every commit of a handler's own transaction.
    pub fn commit() -> Self {
        Self::operation(Operation::Transaction).matching(|call| matches!(call, StoreCall::Commit))
    }

    fn operation(operation: Operation) -> Self {
        Self {
            operation: Some(operation),
            ..Self::any()
        }
    }

    /// Only calls that hold this key.
    pub fn with_key(self, key: &InboxKey) -> Self {
        let key = key.clone();
        self.matching(move |call| call.keys().contains(&key))
    }

    /// Only calls for which `predicate` holds; it replaces an earlier one.
    pub fn matching(
        mut self,
        predicate: impl Fn(StoreCall<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.predicate = Some(Arc::new(predicate));
        self
    }

    /// Only the call with this number.
    pub fn nth(mut self, number: u64) -> Self {
        self.numbers = number..=number;
        self
    }

    /// Only the first `count` calls.
    pub fn first(mut self, count: u64) -> Self {
        self.numbers = 1..=count;
        self
    }

    fn concerns(&self, call: StoreCall<'_>) -> bool {
        self.operation
            .is_none_or(|operation| operation == call.operation())
            && self.predicate.as_ref().is_none_or(|holds| holds(call))
    }
}

impl fmt::Debug for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("When")
            .field("operation", &self.operation)
            .field("predicate", &self.predicate.is_some())
            .field("numbers", &self.numbers)
            .finish()
    }
}

/// A condition that numbers the calls it concerns.
#[derive(Debug)]
pub(super) struct Condition {
    when: When,
    seen: AtomicU64,
}

impl Condition {
    pub(super) fn new(when: When) -> Self {
        Self {
            when,
            seen: AtomicU64::new(0),
        }
    }

    /// Whether the call meets the condition. Ask once per call: asking numbers it.
    pub(super) fn is_met(&self, call: StoreCall<'_>) -> bool {
        self.when.concerns(call) && {
            let number = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
            self.when.numbers.contains(&number)
        }
    }
}
