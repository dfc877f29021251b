use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nimbus_inbox_core::{EndpointId, Error, Inbox, InboxSetup, Operation};
use nimbus_messaging::{SessionStore, Transport, TransportError};

use super::providers::{OpenSessions, OpenTransport, Selection};
use super::sections::SubscriberOptions;

/// The configuration of one endpoint, read and checked; nothing is open yet.
///
/// A [subscriber](Self::subscriber) is built from it, and a tool opens the parts that it needs.
#[derive(Clone)]
pub struct Configuration {
    pub(super) path: PathBuf,
    pub(super) endpoint: EndpointId,
    pub(super) transport: Selection<OpenTransport>,
    pub(super) inbox: Option<Selection<InboxSetup>>,
    pub(super) session_store: Option<Selection<OpenSessions>>,
    pub(super) options: SubscriberOptions,
    pub(super) sections: BTreeMap<String, Arc<dyn Any + Send + Sync>>,
}

impl Configuration {
    /// The file that it was read from.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The endpoint that it configures.
    #[must_use]
    pub fn endpoint(&self) -> &EndpointId {
        &self.endpoint
    }

    /// A section of the program's own, if the file or the environment has it; `S` is the type that
    /// it was [registered](crate::Providers::section) with.
    #[must_use]
    pub fn section<S: Any + Send + Sync>(&self, name: &str) -> Option<&S> {
        self.sections.get(name)?.downcast_ref()
    }

    /// Opens the transport.
    ///
    /// # Errors
    ///
    /// A configuration error when none is selected or the selected one was not registered, which
    /// names what is there and the crate that provides it; else as the transport's own opening.
    ///
    /// # Cancel safety
    ///
    /// As the transport's own opening.
    pub async fn open_transport(&self) -> Result<Arc<dyn Transport>, TransportError> {
        match &self.transport {
            Selection::Ready(open) => open().await,
            Selection::Missing(reason) => Err(TransportError::configuration(self.told(reason))),
        }
    }

    /// Opens the inbox, if the endpoint opted in to one. [`verify`](Inbox::verify) it before the
    /// first message.
    ///
    /// # Errors
    ///
    /// A configuration error when no store is selected or the selected one was not registered,
    /// which names what is there and the crate that provides it; else as the store's own opening.
    ///
    /// # Cancel safety
    ///
    /// As the store's own opening.
    pub async fn open_inbox(&self) -> Result<Option<Inbox>, Error> {
        match &self.inbox {
            None => Ok(None),
            Some(Selection::Ready(setup)) => setup.clone().open(&self.endpoint).await.map(Some),
            Some(Selection::Missing(reason)) => Err(Error::configuration(
                Operation::Configure,
                self.told(reason),
            )),
        }
    }

    /// Opens the session store, if there is one: for transports that keep no session state.
    ///
    /// # Errors
    ///
    /// A configuration error when no store is selected or the selected one was not registered,
    /// which names what is there and the crate that provides it; else as the store's own opening.
    ///
    /// # Cancel safety
    ///
    /// As the store's own opening.
    pub async fn open_session_store(
        &self,
    ) -> Result<Option<Arc<dyn SessionStore>>, TransportError> {
        match &self.session_store {
            None => Ok(None),
            Some(Selection::Ready(open)) => open(self.endpoint.clone()).await.map(Some),
            Some(Selection::Missing(reason)) => {
                Err(TransportError::configuration(self.told(reason)))
            }
        }
    }

    /// Why parts can't be opened, of those that nobody registered.
    pub(super) fn missing(&self) -> impl Iterator<Item = &str> {
        let transport = self.transport.missing();
        let inbox = self.inbox.as_ref().and_then(Selection::missing);
        let sessions = self.session_store.as_ref().and_then(Selection::missing);
        [transport, inbox, sessions].into_iter().flatten()
    }

    fn told(&self, reason: &str) -> String {
        format!("{reason} (configuration {})", self.path.display())
    }
}

impl fmt::Debug for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Configuration")
            .field("path", &self.path)
            .field("endpoint", &self.endpoint)
            .field("inbox", &self.inbox)
            .field("options", &self.options)
            .field("sections", &self.sections.keys())
            .finish_non_exhaustive()
    }
}
