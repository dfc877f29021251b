use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use crate::config::keys::{KeyPath, Keys, keys_of};
use crate::config::problem::Problems;
use crate::config::source::Table;
use crate::config::typed::typed;

/// What makes a provider of its keys, or says what is wrong with them.
type Prepare<O> = dyn Fn(Table, &KeyPath, &mut Problems) -> Option<O> + Send + Sync;

/// Something that is registered by name, with the type of its settings.
pub(super) struct Registered<O> {
    pub(super) keys: Keys,
    prepare: Arc<Prepare<O>>,
}

impl<O> Clone for Registered<O> {
    fn clone(&self) -> Self {
        Self {
            keys: self.keys.clone(),
            prepare: Arc::clone(&self.prepare),
        }
    }
}

impl<O> Registered<O> {
    /// `finish` makes of the settings what is needed later.
    pub(super) fn new<S: DeserializeOwned>(
        finish: impl Fn(S) -> O + Send + Sync + 'static,
    ) -> Self {
        Self {
            keys: keys_of::<S>(),
            prepare: Arc::new(move |table, section, problems| {
                typed::<S>(table, section, problems).map(&finish)
            }),
        }
    }

    pub(super) fn prepare(
        &self,
        table: Table,
        section: &KeyPath,
        problems: &mut Problems,
    ) -> Option<O> {
        (self.prepare)(table, section, problems)
    }
}

/// What a section selects.
#[derive(Debug, Clone)]
pub(in crate::config) enum Selection<T> {
    /// It can be opened.
    Ready(T),
    /// Nobody registered it; why, and what to do.
    Missing(String),
}

impl<T> Selection<T> {
    pub(in crate::config) fn missing(&self) -> Option<&str> {
        match self {
            Self::Ready(_) => None,
            Self::Missing(reason) => Some(reason),
        }
    }
}

/// Names and what they stand for; names are compared without ASCII case.
pub(super) type ByName<O> = BTreeMap<String, Registered<O>>;

/// The registered provider of this name, or why there is none.
pub(super) fn select<'a, O>(
    registered: &'a ByName<O>,
    what: &str,
    key: &str,
    name: Option<&str>,
) -> Result<&'a Registered<O>, String> {
    let offer = if registered.is_empty() {
        "nothing is registered".to_owned()
    } else {
        let names: Vec<_> = registered.keys().map(String::as_str).collect();
        format!("registered are: {}", names.join(", "))
    };
    let Some(name) = name else {
        return Err(format!("no {what} is selected; set {key}; {offer}"));
    };
    registered
        .get(&name.to_ascii_lowercase())
        .ok_or_else(|| match known_crate(what, name) {
            Some(provider) => format!(
                "the {what} `{name}` is selected but was not registered: the crate {provider} \
                 provides it; {offer}"
            ),
            None => format!(
                "the {what} `{name}` is selected but was not registered: it is no provider of this \
                 project, so check its name; {offer}"
            ),
        })
}

/// The crate of this project that provides it.
fn known_crate(what: &str, name: &str) -> Option<&'static str> {
    let known: &[(&str, &str)] = match what {
        super::transports::WHAT => &[
            ("embedded", "nimbus-transport-embedded"),
            ("rabbitmq", "nimbus-transport-rabbitmq"),
            ("servicebus", "nimbus-transport-servicebus"),
            ("inmemory", "nimbus-inbox-testing"),
        ],
        _ => &[
            ("sqlite", "nimbus-inbox-sqlite with its feature `sessions`"),
            ("postgres", "nimbus-inbox-postgres"),
            ("inmemory", "nimbus-inbox-testing"),
        ],
    };
    known
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, provider)| *provider)
}
