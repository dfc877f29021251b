//! The one error type of the inbox and its providers.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// What an [`Error`] means for the message at hand (INB-26).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The store can't answer now; the message is left for redelivery.
    Transient,
    /// The set-up is wrong and stays wrong until someone changes it.
    Configuration,
    /// The input can't be used, whatever the store.
    InvalidInput,
    /// The connection broke after the statement was sent: it may have taken effect.
    OutcomeUnknown,
}

impl ErrorKind {
    /// The name used in metrics and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Transient => "transient",
            Self::Configuration => "configuration",
            Self::InvalidInput => "invalid_input",
            Self::OutcomeUnknown => "outcome_unknown",
        }
    }
}

/// What the inbox was doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Operation {
    /// Looking whether a key was recorded.
    Check,
    /// Recording a key.
    Record,
    /// Removing expired records.
    Purge,
    /// Verifying the store at startup.
    Verify,
    /// Opening the store.
    Open,
    /// Beginning, committing or rolling back the handler's own transaction.
    Transaction,
    /// Reading or combining settings.
    Configure,
}

impl Operation {
    /// The name used in metrics and logs.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Check => "check",
            Self::Record => "record",
            Self::Purge => "purge",
            Self::Verify => "verify",
            Self::Open => "open",
            Self::Transaction => "transaction",
            Self::Configure => "configure",
        }
    }
}

impl fmt::Display for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// An error of the inbox or of one of its stores.
///
/// `Display` is one line that does not repeat the [source](StdError::source).
pub struct Error(Box<Inner>);

struct Inner {
    kind: ErrorKind,
    operation: Operation,
    provider: Option<&'static str>,
    context: String,
    retry_after: Option<Duration>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl Error {
    /// An error of the given kind. `context` says what failed and what to do, without secrets.
    #[must_use]
    pub fn new(kind: ErrorKind, operation: Operation, context: impl Into<String>) -> Self {
        Self(Box::new(Inner {
            kind,
            operation,
            provider: None,
            context: context.into(),
            retry_after: None,
            source: None,
        }))
    }

    /// A [transient](ErrorKind::Transient) error.
    #[must_use]
    pub fn transient(operation: Operation, context: impl Into<String>) -> Self {
        Self::new(ErrorKind::Transient, operation, context)
    }

    /// A [configuration](ErrorKind::Configuration) error.
    #[must_use]
    pub fn configuration(operation: Operation, context: impl Into<String>) -> Self {
        Self::new(ErrorKind::Configuration, operation, context)
    }

    /// An [invalid-input](ErrorKind::InvalidInput) error.
    #[must_use]
    pub fn invalid_input(operation: Operation, context: impl Into<String>) -> Self {
        Self::new(ErrorKind::InvalidInput, operation, context)
    }

    /// An [outcome-unknown](ErrorKind::OutcomeUnknown) error.
    #[must_use]
    pub fn outcome_unknown(operation: Operation, context: impl Into<String>) -> Self {
        Self::new(ErrorKind::OutcomeUnknown, operation, context)
    }

    /// Names the provider that reported it.
    #[must_use]
    pub fn with_provider(mut self, provider: &'static str) -> Self {
        self.0.provider = Some(provider);
        self
    }

    /// Attaches the error that caused it.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<Box<dyn StdError + Send + Sync>>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// States when the store asked to be called again.
    #[must_use]
    pub fn with_retry_after(mut self, delay: Duration) -> Self {
        self.0.retry_after = Some(delay);
        self
    }

    /// What it means for the message at hand.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// What the inbox was doing.
    #[must_use]
    pub fn operation(&self) -> Operation {
        self.0.operation
    }

    /// What failed and what to do, without the operation and the provider.
    #[must_use]
    pub fn context(&self) -> &str {
        &self.0.context
    }

    /// The provider that reported it, if one did.
    #[must_use]
    pub fn provider(&self) -> Option<&'static str> {
        self.0.provider
    }

    /// `true` when the same call may succeed later without anyone changing anything.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        matches!(
            self.0.kind,
            ErrorKind::Transient | ErrorKind::OutcomeUnknown
        )
    }

    /// How long the store asked to be left alone, if it said so.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.retry_after
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "inbox {}", self.0.operation)?;
        if let Some(provider) = self.0.provider {
            write!(f, " ({provider})")?;
        }
        write!(f, ": {}", self.0.context)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.0.kind)
            .field("operation", &self.0.operation)
            .field("provider", &self.0.provider)
            .field("context", &self.0.context)
            .field("retry_after", &self.0.retry_after)
            .field("source", &self.0.source)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}
