use std::error::Error as StdError;
use std::fmt;

/// What a [`TransportError`] means for what was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TransportErrorKind {
    /// The broker can't answer now, or the connection broke; what was tried may have happened.
    Transient,
    /// The set-up is wrong and stays wrong until someone changes it.
    Configuration,
    /// The message can't be sent, whatever the state of the broker.
    InvalidInput,
    /// Nothing receives from the address.
    Unroutable,
    /// The lock of the lane or of the delivery is gone: the broker delivers again.
    LockLost,
    /// The broker can't do this; see [`TransportCapabilities`](crate::TransportCapabilities).
    Unsupported,
}

/// An error of a transport or of a session store.
///
/// `Display` is one line that does not repeat the [source](StdError::source).
#[derive(Debug)]
pub struct TransportError(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: TransportErrorKind,
    context: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl TransportError {
    /// An error of the given kind. `context` says what failed and what to do, without secrets.
    #[must_use]
    pub fn new(kind: TransportErrorKind, context: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            context: context.into(),
            source: None,
        }))
    }

    /// A [transient](TransportErrorKind::Transient) error.
    #[must_use]
    pub fn transient(context: impl Into<String>) -> Self {
        Self::new(TransportErrorKind::Transient, context)
    }

    /// A [configuration](TransportErrorKind::Configuration) error.
    #[must_use]
    pub fn configuration(context: impl Into<String>) -> Self {
        Self::new(TransportErrorKind::Configuration, context)
    }

    /// A [lock-lost](TransportErrorKind::LockLost) error.
    #[must_use]
    pub fn lock_lost(context: impl Into<String>) -> Self {
        Self::new(TransportErrorKind::LockLost, context)
    }

    /// Attaches the error that caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// What it means for what was tried.
    #[must_use]
    pub fn kind(&self) -> TransportErrorKind {
        self.0.kind
    }

    /// `true` when the same call may succeed later without anyone changing anything.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(self.0.kind, TransportErrorKind::Transient)
    }
}

impl fmt::Display for TransportError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.context)
    }
}

impl StdError for TransportError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
