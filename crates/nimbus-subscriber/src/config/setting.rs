use super::keys::{KeyPath, Keys, Kind, each_value, keys_of};
use super::providers::Providers;
use super::sections::Root;

/// One key of the configuration, for documentation and tools.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Setting {
    /// Its path in the file, such as `inbox.retention`; `<name>` where the user chooses a name, and
    /// `[]` for each element of a list.
    pub key: String,
    /// The provider whose key it is, if it is none of the subscriber's own.
    pub provider: Option<String>,
    /// What it takes, in a few words.
    pub takes: String,
    /// The environment variable that overrides the file; none for lists and what stands in one.
    pub variable: Option<String>,
    /// Whether only the variable may give it.
    pub secret: bool,
}

impl Providers {
    /// Every key that a configuration can have with these providers, with its variable.
    #[must_use]
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = Vec::new();
        let root = KeyPath::root();
        collect(&keys_of::<Root>(), &root, None, &mut settings);
        let sections = [
            ("transport", self.transports.keys().collect::<Vec<_>>()),
            ("inbox", self.inboxes.keys().collect()),
            ("session_store", self.session_stores.keys().collect()),
        ];
        for (section, providers) in sections {
            for (name, keys) in providers {
                collect(keys, &root.key(section), Some(name), &mut settings);
            }
        }
        for (name, keys) in self.sections.keys() {
            collect(keys, &root.key(name), None, &mut settings);
        }
        settings
    }
}

fn collect(keys: &Keys, path: &KeyPath, provider: Option<&str>, settings: &mut Vec<Setting>) {
    let table = Kind::Table(keys.clone());
    let chosen = |_| "<name>".to_owned();
    each_value(&table, path, &chosen, &mut |path, kind| {
        settings.push(Setting {
            // Chosen names are quoted where TOML needs it, and this one stands for any.
            key: path
                .to_string()
                .replace("\"<name>\"", "<name>")
                .replace("[0]", "[]"),
            provider: provider.map(str::to_owned),
            takes: kind.name(),
            variable: path.variable().filter(|_| !kind.is_nested()),
            secret: *kind == Kind::Secret,
        });
    });
}
