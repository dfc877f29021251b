use std::collections::BTreeMap;
use std::sync::Arc;

use nimbus_inbox_core::{
    BoxFuture, Error, InboxSetup, InboxStore, InboxStoreKind, Operation, StoreRegistry,
};
use serde::de::DeserializeOwned;

use super::Providers;
use super::registered::{Registered, Selection};
use crate::config::keys::{KeyPath, Keys};
use crate::config::problem::Problems;
use crate::config::source::Table;

const WHAT: &str = "inbox store";

type OpenStore =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn InboxStore>, Error>> + Send + Sync>;

#[derive(Clone, Default)]
pub(in crate::config) struct Inboxes(BTreeMap<InboxStoreKind, Registered<OpenStore>>);

impl Providers {
    /// Adds an inbox store under the kind that `[inbox] store` selects it by. `open` opens it with
    /// its settings.
    pub fn inbox<S, O, F, T>(mut self, kind: impl Into<InboxStoreKind>, open: O) -> Self
    where
        S: DeserializeOwned + Clone + Send + Sync + 'static,
        O: Fn(S) -> F + Send + Sync + 'static,
        F: Future<Output = Result<T, Error>> + Send + 'static,
        T: InboxStore,
    {
        let open = Arc::new(open);
        let registered = Registered::new(move |settings: S| -> OpenStore {
            let open = Arc::clone(&open);
            Arc::new(move || {
                let opening = open(settings.clone());
                Box::pin(async move { Ok(Arc::new(opening.await?) as Arc<dyn InboxStore>) })
            })
        });
        let kind = kind.into();
        let name = kind.to_string();
        if self.inboxes.0.insert(kind, registered).is_some() {
            self.registered_twice(WHAT, &name);
        }
        self
    }
}

impl Inboxes {
    pub(in crate::config) fn names(&self) -> Vec<&str> {
        self.0.keys().map(InboxStoreKind::as_str).collect()
    }

    /// The keys of every store, with its name.
    pub(in crate::config) fn keys(&self) -> impl Iterator<Item = (&str, &Keys)> {
        self.0
            .iter()
            .map(|(kind, registered)| (kind.as_str(), &registered.keys))
    }

    pub(in crate::config) fn select(
        &self,
        name: Option<&str>,
        table: Table,
        problems: &mut Problems,
    ) -> Option<Selection<InboxSetup>> {
        let kind = name.map(InboxStoreKind::from);
        let open = match kind.as_ref().and_then(|kind| self.0.get(kind)) {
            Some(store) => Some(store.prepare(table, &KeyPath::root().key("inbox"), problems)?),
            None => None,
        };
        // The core's own registry selects, so that its refusals read the same everywhere.
        let selected = self
            .registry(open)
            .and_then(|registry| InboxSetup::select(&registry, kind));
        Some(match selected {
            Ok(setup) => Selection::Ready(setup),
            Err(error) => Selection::Missing(error.context().to_owned()),
        })
    }

    /// All of them, of which only the selected one is ever opened.
    fn registry(&self, selected: Option<OpenStore>) -> Result<StoreRegistry, Error> {
        self.0
            .keys()
            .try_fold(StoreRegistry::new(), |registry, kind| {
                let open = selected.clone();
                registry.register(kind.clone(), move || {
                    let opening = open.as_ref().map(|open| open());
                    async move {
                        match opening {
                            Some(opening) => opening.await,
                            None => Err(not_selected()),
                        }
                    }
                })
            })
    }
}

fn not_selected() -> Error {
    Error::configuration(Operation::Open, "this inbox store is not the selected one")
}
