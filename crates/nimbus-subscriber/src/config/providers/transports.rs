use std::sync::Arc;

use nimbus_inbox_core::BoxFuture;
use nimbus_messaging::{Transport, TransportError};
use serde::de::DeserializeOwned;

use super::Providers;
use super::registered::{ByName, Registered, Selection, select};
use crate::config::keys::{KeyPath, Keys};
use crate::config::problem::Problems;
use crate::config::source::Table;

pub(super) const WHAT: &str = "transport";

/// Opens a transport with the settings that were read.
pub(in crate::config) type OpenTransport =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn Transport>, TransportError>> + Send + Sync>;

#[derive(Clone, Default)]
pub(in crate::config) struct Transports(ByName<OpenTransport>);

impl Providers {
    /// Adds a transport under the name that `[transport] name` selects it by, in any ASCII case.
    /// `open` opens it with its settings.
    pub fn transport<S, O, F, T>(mut self, name: &str, open: O) -> Self
    where
        S: DeserializeOwned + Clone + Send + Sync + 'static,
        O: Fn(S) -> F + Send + Sync + 'static,
        F: Future<Output = Result<T, TransportError>> + Send + 'static,
        T: Transport,
    {
        let open = Arc::new(open);
        let registered = Registered::new(move |settings: S| -> OpenTransport {
            let open = Arc::clone(&open);
            Arc::new(move || {
                let opening = open(settings.clone());
                Box::pin(async move { Ok(Arc::new(opening.await?) as Arc<dyn Transport>) })
            })
        });
        let key = name.to_ascii_lowercase();
        if self.transports.0.insert(key, registered).is_some() {
            self.registered_twice(WHAT, name);
        }
        self
    }
}

impl Transports {
    pub(in crate::config) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// The keys of every transport, with its name.
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
    ) -> Option<Selection<OpenTransport>> {
        match select(&self.0, WHAT, "`name` in [transport]", name) {
            Ok(registered) => registered
                .prepare(table, &KeyPath::root().key("transport"), problems)
                .map(Selection::Ready),
            Err(reason) => Some(Selection::Missing(reason)),
        }
    }
}
