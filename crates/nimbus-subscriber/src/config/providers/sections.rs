use std::any::Any;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde::de::DeserializeOwned;

use super::Providers;
use super::registered::Registered;
use crate::config::keys::{KeyPath, Keys};
use crate::config::problem::Problems;
use crate::config::source::Table;

/// The settings of a section, whatever their type.
pub(in crate::config) type AnySettings = Arc<dyn Any + Send + Sync>;

#[derive(Clone, Default)]
pub(in crate::config) struct Sections(BTreeMap<String, Registered<AnySettings>>);

impl Providers {
    /// Adds a section of the program's own, such as `[resolver]` or `[billing]`, checked as all
    /// others are and read with [`Configuration::section`](crate::Configuration::section).
    pub fn section<S>(mut self, name: &str) -> Self
    where
        S: DeserializeOwned + Send + Sync + 'static,
    {
        let registered = Registered::new(|settings: S| Arc::new(settings) as AnySettings);
        if crate::config::sections::is_ours(name) {
            self.problems.push(format!(
                "the section [{name}] is the subscriber's own; choose another name"
            ));
        } else if self
            .sections
            .0
            .insert(name.to_owned(), registered)
            .is_some()
        {
            self.registered_twice("section", name);
        }
        self
    }
}

impl Sections {
    pub(in crate::config) fn names(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }

    /// The keys of every section, with its name.
    pub(in crate::config) fn keys(&self) -> impl Iterator<Item = (&str, &Keys)> {
        self.0
            .iter()
            .map(|(name, registered)| (name.as_str(), &registered.keys))
    }

    /// The settings of a section that is there.
    pub(in crate::config) fn read(
        &self,
        name: &str,
        table: Table,
        problems: &mut Problems,
    ) -> Option<AnySettings> {
        let section = KeyPath::root().key(name);
        self.0.get(name)?.prepare(table, &section, problems)
    }
}
