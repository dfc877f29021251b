use std::path::Path;

use super::providers::Selection;
use super::{Configuration, Providers};
use crate::builder::SubscriberBuilder;
use crate::error::SubscriberError;
use crate::running::Subscriber;

impl Subscriber {
    /// Starts building the subscriber that the TOML file at `path` and the environment configure,
    /// with the providers that the program links. Add the handlers, then
    /// [`build_configured`](SubscriberBuilder::build_configured).
    ///
    /// # Errors
    ///
    /// As [`Configuration::load`] and [`Configuration::subscriber`].
    ///
    /// # Cancel safety
    ///
    /// As [`Configuration::subscriber`].
    pub async fn from_config(
        path: impl AsRef<Path> + Send,
        providers: &Providers,
    ) -> Result<SubscriberBuilder, SubscriberError> {
        let configuration = Configuration::load(path, providers)?;
        configuration.subscriber().await
    }
}

impl Configuration {
    /// Opens the transport, and the session store if there is one, and starts building the
    /// subscriber on them. The inbox is opened and verified when the subscriber runs.
    ///
    /// # Errors
    ///
    /// Of kind [`Configuration`](crate::SubscriberErrorKind::Configuration) when a selected
    /// provider was not registered, all of them at once (INB-30); of kind
    /// [`Transport`](crate::SubscriberErrorKind::Transport) when the transport or the session store
    /// can't be opened.
    ///
    /// # Cancel safety
    ///
    /// As the transport's and the session store's own opening.
    pub async fn subscriber(&self) -> Result<SubscriberBuilder, SubscriberError> {
        let missing: Vec<_> = self.missing().map(str::to_owned).collect();
        if !missing.is_empty() {
            return Err(SubscriberError::configuration_file(&self.path, missing));
        }
        let failed = |error| SubscriberError::transport(&self.endpoint, error);
        let transport = self.open_transport().await.map_err(failed)?;
        let session_store = self.open_session_store().await.map_err(failed)?;

        let mut builder = SubscriberBuilder::new(self.endpoint.as_str().to_owned()).on(transport);
        if let Some(Selection::Ready(setup)) = &self.inbox {
            builder = builder.inbox(setup.clone());
        }
        if let Some(store) = session_store {
            builder = builder.session_store(store);
        }
        let options = &self.options;
        builder = builder.retry_policies(options.retries.clone());
        builder = options.timeouts.apply(builder);
        if let Some(breaker) = &options.circuit_breaker {
            builder = builder.circuit_breaker(breaker.clone());
        }
        if let Some(mode) = options.content_mode {
            builder = builder.content_mode(mode);
        }
        if let Some(mapping) = &options.cloud_events {
            builder = builder.cloud_event_mapping(mapping.clone());
        }
        #[cfg(feature = "opentelemetry")]
        if let Some(inbound) = options.inbound_trace {
            builder = builder.inbound_trace(inbound);
        }
        if let Some(sessions) = options.concurrent_sessions {
            builder = builder.concurrent_sessions(sessions);
        }
        if let Some(idle) = options.session_idle {
            builder = builder.session_idle(idle);
        }
        if let Some(deadline) = options.drain_deadline {
            builder = builder.drain_deadline(deadline);
        }
        Ok(builder)
    }
}
