//! Reading a configuration, all problems at once.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use config::{Value, ValueKind};

use super::Configuration;
use super::keys::{KeyPath, Kind, keys_of};
use super::known::{Choice, INBOX, SESSION_STORE, TRANSPORT, known_keys};
use super::problem::Problems;
use super::providers::{Providers, Selection};
use super::sections::Root;
use super::source::{Environment, Table, checked, merged, read};
use super::typed::typed;
use crate::error::SubscriberError;

impl Configuration {
    /// Reads the file at `path` and the environment of the process.
    ///
    /// A provider that is selected and was not registered is no error here: a tool may not need it.
    /// Opening it is.
    ///
    /// # Errors
    ///
    /// Of kind [`Configuration`](crate::SubscriberErrorKind::Configuration), with every problem
    /// found and its place: a file that can't be read, keys and variables that are not known,
    /// values of the wrong type, secrets in the file.
    pub fn load(path: impl AsRef<Path>, providers: &Providers) -> Result<Self, SubscriberError> {
        Self::load_with(path, providers, std::env::vars_os())
    }

    /// Reads the file at `path` and these variables, instead of the environment's.
    ///
    /// # Errors
    ///
    /// As [`load`](Self::load).
    pub fn load_with(
        path: impl AsRef<Path>,
        providers: &Providers,
        variables: impl IntoIterator<Item = (impl Into<OsString>, impl Into<OsString>)>,
    ) -> Result<Self, SubscriberError> {
        let path = path.as_ref();
        let variables = variables.into_iter();
        let variables = variables.map(|(name, value)| (name.into(), value.into()));
        let mut problems = Problems::new(path);
        for problem in providers.problems() {
            problems.add(problem);
        }
        let loaded = read_all(path, providers, Environment::new(variables), &mut problems);
        match loaded {
            Some(configuration) if problems.is_empty() => Ok(configuration),
            _ => Err(SubscriberError::configuration_file(
                path,
                problems.into_list(),
            )),
        }
    }
}

fn read_all(
    path: &Path,
    providers: &Providers,
    environment: Environment,
    problems: &mut Problems,
) -> Option<Configuration> {
    let file = read(path).map_err(|problem| problems.add(problem)).ok()?;
    let keys = known_keys(providers, &environment, &file);
    let base = path.parent().unwrap_or(Path::new(""));
    let file = checked(&keys, file, base, problems);
    let variables = environment.values(&keys, problems);
    let variables = checked(&keys, variables, base, problems);
    let table = merged(file, variables)
        .map_err(|error| problems.add(error.to_string()))
        .ok()?;
    assemble(path, providers, table, problems)
}

/// From values that have the right types to what they mean together.
fn assemble(
    path: &Path,
    providers: &Providers,
    mut table: Table,
    problems: &mut Problems,
) -> Option<Configuration> {
    let mut own = |choice: &Choice| split(&mut table, choice.section);
    let transport = own(&TRANSPORT);
    let inbox = own(&INBOX);
    let sessions = own(&SESSION_STORE);
    let mut sections = BTreeMap::new();
    for name in providers.sections.names() {
        if let Some(Value {
            kind: ValueKind::Table(section),
            ..
        }) = table.remove(name)
        {
            let settings = providers.sections.read(name, section, problems);
            sections.extend(settings.map(|settings| (name.to_owned(), settings)));
        }
    }
    let root: Root = typed(table, &KeyPath::root(), problems)?;

    let endpoint = root.endpoint(problems);
    let options = root.options(problems);
    let inbox_options = root.inbox_options(problems);
    let name = root.transport.and_then(|section| section.name);
    let transport = providers
        .transports
        .select(name.as_deref(), transport, problems);
    let inbox = root.inbox.map(|section| {
        let inbox = providers
            .inboxes
            .select(section.store.as_deref(), inbox, problems)?;
        Some(match inbox {
            Selection::Ready(setup) => Selection::Ready(setup.with_options(inbox_options)),
            missing @ Selection::Missing(_) => missing,
        })
    });
    let session_store = root.session_store.map(|section| {
        let stores = &providers.session_stores;
        stores.select(section.store.as_deref(), sessions, problems)
    });
    if !problems.is_empty() {
        let transport = transport.as_ref().and_then(Selection::missing);
        let inbox = inbox.iter().flatten().find_map(Selection::missing);
        let sessions = session_store.iter().flatten().find_map(Selection::missing);
        let missing = [transport, inbox, sessions].into_iter().flatten();
        missing.for_each(|reason| problems.add(reason));
    }
    Some(Configuration {
        path: path.to_owned(),
        endpoint: endpoint?,
        transport: transport?,
        inbox: transposed(inbox)?,
        session_store: transposed(session_store)?,
        options,
        sections,
    })
}

/// Takes what belongs to the provider out of a section.
fn split(table: &mut Table, section: &str) -> Table {
    let own = keys_of::<Root>();
    let (Some(Kind::Table(own)), Some(value)) = (own.get(section), table.get_mut(section)) else {
        return Table::new();
    };
    let ValueKind::Table(section) = &mut value.kind else {
        return Table::new();
    };
    let all = std::mem::take(section);
    let (kept, provider) = all
        .into_iter()
        .partition(|(name, _)| own.get(name).is_some());
    *section = kept;
    provider
}

/// Absent is fine, broken is not.
fn transposed<T>(section: Option<Option<T>>) -> Option<Option<T>> {
    match section {
        None => Some(None),
        Some(None) => None,
        Some(Some(value)) => Some(Some(value)),
    }
}
