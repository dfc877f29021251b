//! Why a command did not do what it was asked, and the exit code that says so.

use std::error::Error as StdError;
use std::fmt;
use std::process::ExitCode;

use nimbus_messaging::{ManagerError, ManagerErrorKind, TransportError, TransportErrorKind};
use nimbus_resolver::{ResolverError, ResolverErrorKind};
use nimbus_subscriber::SubscriberError;

/// What a failure means for whoever called the tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FailureKind {
    NotFound = 1,
    Usage = 2,
    Configuration = 3,
    Unreachable = 4,
    Refused = 5,
}

/// A command that was not done.
#[derive(Debug)]
pub(crate) struct Failure {
    kind: FailureKind,
    text: String,
}

impl Failure {
    pub(crate) fn not_found(text: impl Into<String>) -> Self {
        Self::new(FailureKind::NotFound, text)
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new(FailureKind::Usage, text)
    }

    pub(crate) fn configuration(text: impl Into<String>) -> Self {
        Self::new(FailureKind::Configuration, text)
    }

    pub(crate) fn refused(text: impl Into<String>) -> Self {
        Self::new(FailureKind::Refused, text)
    }

    /// The command was done, and what it has to say can't be said. Not a failure to try again on:
    /// that would do the command twice.
    pub(crate) fn unwritable(error: &std::io::Error) -> Self {
        Self::new(
            FailureKind::Configuration,
            format!("the command ran, and its result can't be written: {error}"),
        )
    }

    fn new(kind: FailureKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            text: text.into(),
        }
    }

    fn of(kind: FailureKind, error: &(dyn StdError + 'static)) -> Self {
        Self::new(kind, chain(error))
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.kind as u8)
    }
}

/// An error and what caused it, in one line.
fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        source = cause.source();
    }
    text
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&crate::output::plain(&self.text))
    }
}

impl From<ResolverError> for Failure {
    fn from(error: ResolverError) -> Self {
        let kind = match error.kind() {
            ResolverErrorKind::Transient => FailureKind::Unreachable,
            _ => FailureKind::Configuration,
        };
        Self::of(kind, &error)
    }
}

impl From<TransportError> for Failure {
    fn from(error: TransportError) -> Self {
        Self::of(transport(error.kind()), &error)
    }
}

fn transport(kind: TransportErrorKind) -> FailureKind {
    match kind {
        TransportErrorKind::Transient | TransportErrorKind::LockLost => FailureKind::Unreachable,
        TransportErrorKind::InvalidInput => FailureKind::Refused,
        _ => FailureKind::Configuration,
    }
}

impl From<ManagerError> for Failure {
    fn from(error: ManagerError) -> Self {
        let kind = match (error.kind(), error.is_transient()) {
            (ManagerErrorKind::Transport, true) => FailureKind::Unreachable,
            (ManagerErrorKind::Transport, false) => {
                let source = error
                    .source()
                    .and_then(|it| it.downcast_ref::<TransportError>());
                source.map_or(FailureKind::Configuration, |it| transport(it.kind()))
            }
            _ => FailureKind::Refused,
        };
        Self::of(kind, &error)
    }
}

impl From<nimbus_inbox_core::Error> for Failure {
    fn from(error: nimbus_inbox_core::Error) -> Self {
        let kind = if error.is_transient() {
            FailureKind::Unreachable
        } else {
            FailureKind::Configuration
        };
        Self::of(kind, &error)
    }
}

impl From<SubscriberError> for Failure {
    fn from(error: SubscriberError) -> Self {
        let problems = error.problems();
        if problems.len() > 1 {
            let lines: Vec<String> = problems.iter().map(|it| format!("\n  {it}")).collect();
            return Self::configuration(format!(
                "the configuration is not right:{}",
                lines.concat()
            ));
        }
        Self::of(FailureKind::Configuration, &error)
    }
}
