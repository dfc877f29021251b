//! What a configuration adds.

use std::sync::Arc;

use nimbus_messaging::Transport;

use super::SubscriberBuilder;
use crate::error::SubscriberError;
use crate::retry::RetryPolicies;
use crate::running::Subscriber;

impl SubscriberBuilder {
    /// As [`build`](Self::build), on the transport that the
    /// [configuration](crate::Configuration::subscriber) opened.
    ///
    /// # Errors
    ///
    /// A [`SubscriberError`] that holds every problem found; also when there was no configuration.
    pub fn build_configured(mut self) -> Result<Subscriber, SubscriberError> {
        match self.transport.take() {
            Some(transport) => self.build_on(transport),
            None => {
                self.problems.push(
                    "no configuration opened a transport; pass one to `build`, or begin with \
                     `Subscriber::from_config`"
                        .to_owned(),
                );
                Err(SubscriberError::configuration(
                    &self.endpoint,
                    self.problems,
                ))
            }
        }
    }

    pub(crate) fn on(mut self, transport: Arc<dyn Transport>) -> Self {
        self.transport = Some(transport);
        self
    }

    pub(crate) fn limited_event_type(mut self, event_type: &str) -> Self {
        self.limited_event_types.push(event_type.to_owned());
        self
    }

    pub(crate) fn retry_policies(mut self, policies: RetryPolicies) -> Self {
        self.retries = policies;
        self
    }

    /// One of two transports would stay open for nothing.
    pub(super) fn refuse_second_transport(&mut self) {
        if self.transport.take().is_some() {
            self.problems.push(
                "the configuration opened a transport and another was passed; use \
                 `build_configured`"
                    .to_owned(),
            );
        }
    }
}
