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
    endpoint: String,
    problems: Vec<String>,
    /// In a box: what rarely fails should return something small.
    report: Option<Box<RunReport>>,
    source: Option<Box<dyn StdError + Send + Sync>>,
}

impl SubscriberError {
    pub(crate) fn configuration(endpoint: &str, problems: Vec<String>) -> Self {
        Self {
            kind: SubscriberErrorKind::Configuration,
            endpoint: endpoint.to_owned(),
            problems,
            report: None,
            source: None,
        }
    }

    pub(crate) fn inbox(endpoint: &EndpointId, error: nimbus_inbox_core::Error) -> Self {
        Self {
            kind: SubscriberErrorKind::Inbox,
            endpoint: endpoint.as_str().to_owned(),
            problems: Vec::new(),
            report: None,
            source: Some(Box::new(error)),
        }
    }

    pub(crate) fn transport(endpoint: &EndpointId, error: TransportError) -> Self {
        Self {
            kind: SubscriberErrorKind::Transport,
            endpoint: endpoint.as_str().to_owned(),
            problems: Vec::new(),
            report: None,
            source: Some(Box::new(error)),
        }
    }

    pub(crate) fn receiving(endpoint: &EndpointId, report: RunReport) -> Self {
        Self {
            kind: SubscriberErrorKind::Receiving,
            endpoint: endpoint.as_str().to_owned(),
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

impl fmt::Display for SubscriberError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let endpoint = &self.endpoint;
        match self.kind {
            SubscriberErrorKind::Configuration => write!(
                f,
                "subscriber {endpoint:?} is not configured right: {}",
                self.problems.join("; ")
            ),
            SubscriberErrorKind::Inbox => {
                write!(
                    f,
                    "subscriber {endpoint:?} did not start: its inbox can't serve"
                )
            }
            SubscriberErrorKind::Transport => {
                write!(
                    f,
                    "subscriber {endpoint:?} did not start: its transport can't serve"
                )
            }
            SubscriberErrorKind::Receiving => write!(
                f,
                "subscriber {endpoint:?} stopped receiving by itself, a fault of its transport; \
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
