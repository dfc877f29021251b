use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::InboxStoreKind;
use crate::{BoxFuture, Error, InboxStore, Operation};

pub(super) type OpenStore =
    Arc<dyn Fn() -> BoxFuture<'static, Result<Arc<dyn InboxStore>, Error>> + Send + Sync>;

/// The providers that a program carries, by name, for configuration to select one (INB-30).
///
/// Registering a provider opens nothing; only the selected one is opened.
#[derive(Clone, Default)]
pub struct StoreRegistry {
    stores: BTreeMap<InboxStoreKind, OpenStore>,
}

impl StoreRegistry {
    /// A registry without providers.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a provider. `open` opens its store, with settings of its own.
    ///
    /// # Errors
    ///
    /// A configuration error when the kind was registered before: which of the two would be used
    /// must not depend on their order.
    pub fn register<O, F, S>(mut self, kind: InboxStoreKind, open: O) -> Result<Self, Error>
    where
        O: Fn() -> F + Send + Sync + 'static,
        F: Future<Output = Result<S, Error>> + Send + 'static,
        S: InboxStore,
    {
        if self.stores.contains_key(&kind) {
            return Err(Error::configuration(
                Operation::Configure,
                format!("the inbox store `{kind}` was registered twice; register it once"),
            ));
        }
        let open: OpenStore = Arc::new(move || {
            let opening = open();
            Box::pin(async move { Ok(Arc::new(opening.await?) as Arc<dyn InboxStore>) })
        });
        self.stores.insert(kind, open);
        Ok(self)
    }

    /// The registered kinds, in order.
    pub fn kinds(&self) -> impl Iterator<Item = &InboxStoreKind> {
        self.stores.keys()
    }

    /// The selected provider, still closed.
    pub(super) fn select(
        &self,
        kind: Option<InboxStoreKind>,
    ) -> Result<(InboxStoreKind, OpenStore), Error> {
        let Some(kind) = kind else {
            return Err(Error::configuration(
                Operation::Configure,
                format!(
                    "the inbox is enabled but no store is selected; {}",
                    self.offer()
                ),
            ));
        };
        match self.stores.get(&kind) {
            Some(open) => Ok((kind, Arc::clone(open))),
            None => Err(self.not_registered(&kind)),
        }
    }

    fn not_registered(&self, kind: &InboxStoreKind) -> Error {
        let remedy = match kind.crate_name() {
            Some(name) => format!("the crate {name} provides it"),
            None => "it is no provider of this project, so check its name".to_owned(),
        };
        Error::configuration(
            Operation::Configure,
            format!(
                "the inbox store `{kind}` is selected but was not registered: {remedy}; {}",
                self.offer()
            ),
        )
    }

    fn offer(&self) -> String {
        if self.stores.is_empty() {
            return "nothing is registered".to_owned();
        }
        let names: Vec<_> = self.kinds().map(InboxStoreKind::as_str).collect();
        format!("registered are: {}", names.join(", "))
    }
}

impl fmt::Debug for StoreRegistry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.kinds()).finish()
    }
}
