use std::sync::Arc;

use nimbus_inbox_core::{BoxFuture, EndpointId};
use nimbus_messaging::{SessionStore, TransportError};
use serde::de::DeserializeOwned;

use super::Providers;
use super::registered::{ByName, Registered, Selection, select};
use crate::config::keys::{KeyPath, Keys};
use crate::config::problem::Problems;
use crate::config::source::Table;

const WHAT: &str = "session store";

/// Opens the session store of an endpoint with the settings that were read.
pub(in crate::config) type OpenSessions = Arc<
    dyn Fn(EndpointId) -> BoxFuture<'static, Result<Arc<dyn SessionStore>, TransportError>>
        + Send
        + Sync,
>;

#[derive(Clone, Default)]
pub(in crate::config) struct SessionStores(ByName<OpenSessions>);

impl Providers {
    /// Adds a session store under the name that `[session_store] store` selects it by, in any
    /// ASCII case. `open` opens that of an endpoint with its settings.
    pub fn session_store<S, O, F, T>(mut self, name: &str, open: O) -> Self
    where
        S: DeserializeOwned + Clone + Send + Sync + 'static,
        O: Fn(S, EndpointId) -> F + Send + Sync + 'static,
        F: Future<Output = Result<T, TransportError>> + Send + 'static,
        T: SessionStore,
    {
        let open = Arc::new(open);
        let registered = Registered::new(move |settings: S| -> OpenSessions {
            let open = Arc::clone(&open);
            Arc::new(move |endpoint| {
                let opening = open(settings.clone(), endpoint);
                Box::pin(async move { Ok(Arc::new(opening.await?) as Arc<dyn SessionStore>) })
            })
        });
        let key = name.to_ascii_lowercase();
        if self.session_stores.0.insert(key, registered).is_some() {
            self.registered_twice(WHAT, name);
        }
        self
    }
}

impl SessionStores {
    pub(in crate::config) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// The keys of every store, with its name.
    pub(in crate::config) fn keys(&self) -> impl Iterator<Item = (&str, &Keys)> {
        self.0
            .iter()
            .map(|(name, registered)| (name.as_str(), &registered.keys))
    }

    pub(in crate::config) fn select(
        &self,
        name: Option<&str>,
        table: Table,
        problems: &mut Problems,
    ) -> Option<Selection<OpenSessions>> {
        match select(&self.0, WHAT, "`store` in [session_store]", name) {
            Ok(registered) => registered
                .prepare(table, &KeyPath::root().key("session_store"), problems)
                .map(Selection::Ready),
            Err(reason) => Some(Selection::Missing(reason)),
        }
    }
}
