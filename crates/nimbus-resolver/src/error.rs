use std::error::Error as StdError;
use std::fmt;

use nimbus_messaging::{TransportError, TransportErrorKind};
use nimbus_sqlite::{ErrorKind, SqliteError};

/// What a [`ResolverError`] means for what was tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ResolverErrorKind {
    /// It may succeed later without anyone changing anything.
    Transient,
    /// Someone has to change the set-up, or make room.
    Configuration,
    /// The database takes everything but what it was given.
    Refused,
}

/// An error of the resolver, of its database or of its transport.
///
/// `Display` is one line that does not repeat the [source](StdError::source).
#[derive(Debug)]
pub struct ResolverError {
    kind: ResolverErrorKind,
    context: String,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl ResolverError {
    /// What the database reported while `doing`.
    pub(crate) fn store(doing: &str, error: SqliteError) -> Self {
        let kind = match error.kind() {
            ErrorKind::Transient | ErrorKind::Closed => ResolverErrorKind::Transient,
            ErrorKind::Constraint | ErrorKind::Panicked => ResolverErrorKind::Refused,
            _ => ResolverErrorKind::Configuration,
        };
        let source = error.source().map(ToString::to_string);
        Self {
            kind,
            context: format!("the resolver's database failed while {doing}: {error}"),
            source: source.map(Into::into),
        }
    }

    pub(crate) fn transport(doing: &str, error: TransportError) -> Self {
        let kind = match error.kind() {
            TransportErrorKind::Transient | TransportErrorKind::LockLost => {
                ResolverErrorKind::Transient
            }
            _ => ResolverErrorKind::Configuration,
        };
        Self {
            kind,
            context: format!("the resolver could not {doing}"),
            source: Some(Box::new(error)),
        }
    }

    pub(crate) fn configuration(context: impl Into<String>) -> Self {
        Self {
            kind: ResolverErrorKind::Configuration,
            context: context.into(),
            source: None,
        }
    }

    /// What it means for what was tried.
    #[must_use]
    pub fn kind(&self) -> ResolverErrorKind {
        self.kind
    }

    /// `true` when the same call may succeed later without anyone changing anything.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.kind == ResolverErrorKind::Transient
    }
}

impl fmt::Display for ResolverError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.context)
    }
}

impl StdError for ResolverError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
