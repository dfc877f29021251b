use nimbus_inbox_core::{EndpointId, InboxKey, Operation};

/// A call that reached a wrapper, as conditions see it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub enum StoreCall<'a> {
    /// The store is verified.
    Verify,
    /// These keys are looked up.
    Check(&'a [InboxKey]),
    /// These keys are recorded.
    Record(&'a [InboxKey]),
    /// The endpoint's old records are removed.
    Purge(&'a EndpointId),
    /// The handler's own transaction begins.
    Begin,
    /// The handler's own transaction commits.
    Commit,
}

impl<'a> StoreCall<'a> {
    /// Which operation it is.
    #[must_use]
    pub fn operation(self) -> Operation {
        match self {
            Self::Verify => Operation::Verify,
            Self::Check(_) => Operation::Check,
            Self::Record(_) => Operation::Record,
            Self::Purge(_) => Operation::Purge,
            Self::Begin | Self::Commit => Operation::Transaction,
        }
    }

    /// The keys of a check or a record; none for the others.
    #[must_use]
    pub fn keys(self) -> &'a [InboxKey] {
        match self {
            Self::Check(keys) | Self::Record(keys) => keys,
            Self::Verify | Self::Purge(_) | Self::Begin | Self::Commit => &[],
        }
    }
}

/// A point in a call, seen from the store underneath.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Point {
    /// The store underneath was not called yet.
    BeforeEffect,
    /// The store underneath answered with success; the caller doesn't know yet.
    AfterEffect,
}
