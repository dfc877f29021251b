//! Which keys a configuration can have, given what it selects.

use config::ValueKind;
use nimbus_inbox_core::InboxStoreKind;

use super::keys::{KeyPath, Keys, Kind, keys_of};
use super::providers::Providers;
use super::sections::Root;
use super::source::{Environment, Table};

/// Sections of this project's own tools, which share the file: a program that doesn't read one
/// leaves it alone.
const TOOL_SECTIONS: [&str; 1] = ["resolver"];

/// A section in which one provider is selected, and the key that names it.
pub(super) struct Choice {
    pub(super) section: &'static str,
    key: &'static str,
}

pub(super) const TRANSPORT: Choice = Choice {
    section: "transport",
    key: "name",
};
pub(super) const INBOX: Choice = Choice {
    section: "inbox",
    key: "store",
};
pub(super) const SESSION_STORE: Choice = Choice {
    section: "session_store",
    key: "store",
};

/// Every key there is, with those of the selected providers.
pub(super) fn known_keys(providers: &Providers, environment: &Environment, file: &Table) -> Keys {
    let mut keys = keys_of::<Root>();
    let name = |choice: &Choice| selected(choice, environment, file);
    if let Some(section) = keys.table_mut(TRANSPORT.section) {
        let transport = name(&TRANSPORT).map(|name| name.to_ascii_lowercase());
        add_provider(section, providers.transports.keys(), transport);
    }
    if let Some(section) = keys.table_mut(INBOX.section) {
        let store = name(&INBOX).map(|name| InboxStoreKind::from(name.as_str()).to_string());
        add_provider(section, providers.inboxes.keys(), store);
    }
    if let Some(section) = keys.table_mut(SESSION_STORE.section) {
        let store = name(&SESSION_STORE).map(|name| name.to_ascii_lowercase());
        add_provider(section, providers.session_stores.keys(), store);
    }
    for name in TOOL_SECTIONS {
        keys.insert(name, Kind::Unread);
    }
    for (name, section) in providers.sections.keys() {
        keys.insert(name, Kind::Table(section.clone()));
    }
    if providers.leave_the_rest {
        keys.leave_open();
    }
    keys
}

/// The name that a section selects its provider by; a variable wins.
fn selected(choice: &Choice, environment: &Environment, file: &Table) -> Option<String> {
    let key = KeyPath::root().key(choice.section).key(choice.key);
    if let Some(name) = environment.text(&key) {
        return Some(name.to_owned());
    }
    let ValueKind::Table(section) = &file.get(choice.section)?.kind else {
        return None;
    };
    match &section.get(choice.key)?.kind {
        ValueKind::String(name) => Some(name.clone()),
        _ => None,
    }
}

/// The keys of the selected provider are the section's too. Who was not registered may know any
/// key. A variable may also name a key of another registered provider: one environment can serve
/// several configurations.
fn add_provider<'a>(
    section: &mut Keys,
    providers: impl Iterator<Item = (&'a str, &'a Keys)>,
    selected: Option<String>,
) {
    let mut found = false;
    for (name, keys) in providers {
        if selected.as_deref() == Some(name) {
            section.extend(keys);
            found = true;
        } else {
            section.extend_foreign(keys);
        }
    }
    if !found {
        section.leave_open();
    }
}
