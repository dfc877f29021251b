use std::sync::Arc;

use nimbus_inbox_core::{Clock, EndpointId, Inbox};
use nimbus_messaging::Sender;

use super::Classifiers;
use crate::cloud_events::CloudEvents;
use crate::handler::Outbound;
use crate::lifecycle::Lifecycle;
use crate::middleware::Pipeline;
use crate::responder::Responder;
use crate::retry::{RandomSource, RetryPolicies};
use crate::running::{Intake, Tally};
use crate::telemetry::Spans;

/// Everything that processing a message needs, shared by all lanes.
#[derive(Debug)]
pub(crate) struct Services {
    pub(crate) endpoint: EndpointId,
    /// `None` when the subscriber did not opt in (INB-29).
    pub(crate) inbox: Option<Inbox>,
    /// Told when a record succeeds.
    pub(crate) intake: Intake,
    pub(crate) cloud_events: CloudEvents,
    pub(crate) pipeline: Pipeline,
    pub(crate) classifiers: Classifiers,
    pub(crate) retries: RetryPolicies,
    pub(crate) responder: Responder,
    /// Sends to this endpoint's own queue: retries and drain requests.
    pub(crate) own_queue: Arc<dyn Sender>,
    pub(crate) outbound: Outbound,
    pub(crate) lifecycle: Lifecycle,
    pub(crate) spans: Spans,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn RandomSource>,
    pub(crate) tally: Tally,
}
