//! Why a subscriber could not be built or started, or stopped receiving.

use std::error::Error as StdError;
use std::fmt;

use nimbus_inbox_core::EndpointId;
use nimbus_messaging::TransportError;

use crate::running::RunReport;

/// What a [`SubscriberError`] is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SubscriberErrorKind {
    /// The subscriber's own configuration; see [`SubscriberError::problems`].
    Configuration,
    /// The inbox store can't serve.
    Inbox,
    /// The transport can't serve.
    Transport,
    /// Receiving ended before it was stopped.
    Receiving,
}

/// Why a subscriber could not be built or started, or stopped receiving by itself.
///
/// `Display` is one line that does not repeat the [source](StdError::source).
#[derive(Debug)]
pub struct SubscriberError {
    kind: SubscriberErrorKind,
    /// The subscriber, or the file that configures it.
    subject: String,
    problems: Vec<String>,
    /// In a box: what rarely fails should return something small.
    report: Option<Box<RunReport>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl SubscriberError {
    pub(crate) fn configuration(endpoint: &str, problems: Vec<String>) -> Self {
        Self {
            kind: SubscriberErrorKind::Configuration,
            subject: subscriber(endpoint),
            problems,
            report: None,
            source: None,
        }
    }

    #[cfg(feature = "config")]
    pub(crate) fn configuration_file(path: &std::path::Path, problems: Vec<String>) -> Self {
        Self {
            kind: SubscriberErrorKind::Configuration,
            subject: format!("the configuration {}", path.display()),
            problems,
            report: None,
            source: None,
        }
    }

    pub(crate) fn inbox(endpoint: &EndpointId, error: nimbus_inbox_core::Error) -> Self {
        Self {
            kind: SubscriberErrorKind::Inbox,
            subject: subscriber(endpoint.as_str()),
            problems: Vec::new(),
            report: None,
            source: Some(Box::new(error)),
        }
    }

    pub(crate) fn transport(endpoint: &EndpointId, error: TransportError) -> Self {
        Self {
            kind: SubscriberErrorKind::Transport,
            subject: subscriber(endpoint.as_str()),
            problems: Vec::new(),
            report: None,
            source: Some(Box::new(error)),
        }
    }

    pub(crate) fn receiving(endpoint: &EndpointId, report: RunReport) -> Self {
        Self {
            kind: SubscriberErrorKind::Receiving,
            subject: subscriber(endpoint.as_str()),
            problems: Vec::new(),
            report: Some(Box::new(report)),
            source: None,
        }
    }

    /// What it is about.
    #[must_use]
    pub fn kind(&self) -> SubscriberErrorKind {
        self.kind
    }

    /// What was done before receiving ended; none for other kinds.
    #[must_use]
    pub fn report(&self) -> Option<&RunReport> {
        self.report.as_deref()
    }

    /// Every problem of the configuration; empty for other kinds.
    #[must_use]
    pub fn problems(&self) -> &[String] {
        &self.problems
    }
}

fn subscriber(endpoint: &str) -> String {
    format!("subscriber {endpoint:?}")
}

impl fmt::Display for SubscriberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let subject = &self.subject;
        match self.kind {
            SubscriberErrorKind::Configuration => write!(
                f,
                "{subject} is not configured right: {}",
                self.problems.join("; ")
            ),
            SubscriberErrorKind::Inbox => {
                write!(f, "{subject} did not start: its inbox can't serve")
            }
            SubscriberErrorKind::Transport => {
                write!(f, "{subject} did not start: its transport can't serve")
            }
            SubscriberErrorKind::Receiving => write!(
                f,
                "{subject} stopped receiving by itself, a fault of its transport; \
                 start it again"
            ),
        }
    }
}

impl StdError for SubscriberError {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}
