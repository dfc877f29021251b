use std::fmt;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use nimbus_messaging::Address;

use super::{BrokerCall, BrokerOperation};
use crate::transport::ProcessId;

type Predicate = Arc<dyn Fn(&BrokerCall) -> bool + Send + Sync>;

/// Which calls a [fault](super::BrokerFault) or a [gate](super::BrokerGate) concerns.
///
/// Calls are numbered per rule, from 1, over those that reach the rule's point and meet the rest of
/// the condition.
#[derive(Clone)]
#[must_use]
pub struct BrokerWhen {
    operation: Option<BrokerOperation>,
    predicates: Vec<Predicate>,
    numbers: RangeInclusive<u64>,
}

impl BrokerWhen {
    /// Every call.
    pub fn any() -> Self {
        Self {
            operation: None,
            predicates: Vec::new(),
            numbers: 1..=u64::MAX,
        }
    }

    /// Every call of this operation.
    pub fn on(operation: BrokerOperation) -> Self {
        Self {
            operation: Some(operation),
            ..Self::any()
        }
    }

    /// Only calls that concern this address.
    pub fn at(self, address: impl Into<Address>) -> Self {
        let address = address.into();
        self.matching(move |call| call.address == address)
    }

    /// Only calls of this process.
    pub fn by(self, process: ProcessId) -> Self {
        self.matching(move |call| call.process == process)
    }

    /// Only calls for which `predicate` holds as well.
    pub fn matching(
        mut self,
        predicate: impl Fn(&BrokerCall) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.predicates.push(Arc::new(predicate));
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

    fn concerns(&self, call: &BrokerCall) -> bool {
        self.operation
            .is_none_or(|operation| operation == call.operation)
            && self.predicates.iter().all(|holds| holds(call))
    }
}

impl fmt::Debug for BrokerWhen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BrokerWhen")
            .field("operation", &self.operation)
            .field("predicates", &self.predicates.len())
            .field("numbers", &self.numbers)
            .finish()
    }
}

/// A condition that numbers the calls it concerns.
#[derive(Debug)]
pub(super) struct Condition {
    when: BrokerWhen,
    seen: AtomicU64,
}

impl Condition {
    pub(super) fn new(when: BrokerWhen) -> Self {
        Self {
            when,
            seen: AtomicU64::new(0),
        }
    }

    /// Whether the call meets the condition. Asking numbers it.
    pub(super) fn is_met(&self, call: &BrokerCall) -> bool {
        self.when.concerns(call) && {
            let number = self.seen.fetch_add(1, Ordering::SeqCst) + 1;
            self.when.numbers.contains(&number)
        }
    }
}
