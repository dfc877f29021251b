use std::fmt;
use std::sync::Arc;

use super::stores::OpenStore;
use super::{InboxStoreKind, StoreRegistry};
use crate::{Error, Inbox, InboxOptions, InboxStore};

/// What a subscriber needs to open its inbox: exactly one store, and options (INB-29, INB-30).
#[derive(Clone)]
pub struct InboxSetup {
    store: Source,
    options: InboxOptions,
}

#[derive(Clone)]
enum Source {
    Given(Arc<dyn InboxStore>),
    Selected(InboxStoreKind, OpenStore),
}

impl InboxSetup {
    /// An inbox on this store.
    #[must_use]
    pub fn new(store: impl InboxStore) -> Self {
        Self::from_arc(Arc::new(store))
    }

    /// An inbox on a store that others hold as well.
    #[must_use]
    pub fn from_arc(store: Arc<dyn InboxStore>) -> Self {
        Self {
            store: Source::Given(store),
            options: InboxOptions::default(),
        }
    }

    /// An inbox on the registered store that configuration selects.
    ///
    /// # Errors
    ///
    /// A configuration error that names what is registered, when nothing is selected or something
    /// that is not registered; then also the crate that provides it.
    pub fn select(
        registry: &StoreRegistry,
        kind: impl Into<Option<InboxStoreKind>>,
    ) -> Result<Self, Error> {
        let (kind, open) = registry.select(kind.into())?;
        Ok(Self {
            store: Source::Selected(kind, open),
            options: InboxOptions::default(),
        })
    }

    /// Sets the options.
    #[must_use]
    pub fn with_options(mut self, options: InboxOptions) -> Self {
        self.options = options;
        self
    }

    /// The options.
    #[must_use]
    pub fn options(&self) -> &InboxOptions {
        &self.options
    }

    /// Opens the store and puts the inbox of `endpoint` on it. [`verify`](Inbox::verify) it
    /// before the first message.
    ///
    /// # Errors
    ///
    /// A configuration error when the endpoint is unusable; the provider's error when its store
    /// can't be opened.
    ///
    /// # Cancel safety
    ///
    /// As the provider's opening; nothing of the inbox has begun.
    pub async fn open(self, endpoint: impl AsRef<str>) -> Result<Inbox, Error> {
        let store = match self.store {
            Source::Given(store) => store,
            Source::Selected(_, open) => open().await?,
        };
        Inbox::from_arc(endpoint, store, self.options)
    }
}

impl fmt::Debug for InboxSetup {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = match &self.store {
            Source::Given(store) => store.provider(),
            Source::Selected(kind, _) => kind.as_str(),
        };
        f.debug_struct("InboxSetup")
            .field("store", &store)
            .field("options", &self.options)
            .finish()
    }
}
