use std::error::Error as StdError;
use std::fmt;

use crate::model::MessageType;
use crate::transport::TransportError;

/// Why a command was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ManagerErrorKind {
    /// It names no session, so there is no block that it could end.
    MissingSession,
    /// It names no event.
    MissingEventId,
    /// A resubmission carries no event, or one without a type.
    MissingEvent,
    /// A failed handoff is reported without saying why.
    MissingText,
    /// The transport did not take it; it may have been sent all the same.
    Transport,
}

/// A command of an operator that was not sent.
///
/// `Display` is one line that does not repeat the [source](StdError::source).
#[derive(Debug)]
pub struct ManagerError {
    kind: ManagerErrorKind,
    command: MessageType,
    source: Option<TransportError>,
}

impl ManagerError {
    pub(super) fn invalid(kind: ManagerErrorKind, command: MessageType) -> Self {
        Self {
            kind,
            command,
            source: None,
        }
    }

    pub(super) fn not_sent(command: MessageType, source: TransportError) -> Self {
        Self {
            kind: ManagerErrorKind::Transport,
            command,
            source: Some(source),
        }
    }

    /// What it is about.
    #[must_use]
    pub fn kind(&self) -> ManagerErrorKind {
        self.kind
    }

    /// `true` when the same command may be sent later without anyone changing anything.
    #[must_use]
    pub fn is_transient(&self) -> bool {
        self.source
            .as_ref()
            .is_some_and(TransportError::is_transient)
    }
}

impl fmt::Display for ManagerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let command = self.command;
        let problem = match self.kind {
            ManagerErrorKind::MissingSession => {
                "it names no session; give the session that the event belongs to"
            }
            ManagerErrorKind::MissingEventId => "it names no event; give the event's id",
            ManagerErrorKind::MissingEvent => {
                "it carries no event to handle; give the event's type and content, which every \
                 outcome at the resolver has"
            }
            ManagerErrorKind::MissingText => {
                "it says nothing of why the job failed; give a text for the operators"
            }
            ManagerErrorKind::Transport => "the transport did not confirm it",
        };
        write!(f, "the {command} was not sent: {problem}")
    }
}

impl StdError for ManagerError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_ref().map(|source| source as _)
    }
}
