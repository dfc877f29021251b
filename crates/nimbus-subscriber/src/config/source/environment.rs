use std::collections::BTreeMap;
use std::ffi::OsString;

use config::{Value, ValueKind};

use super::Table;
use crate::config::PREFIX;
use crate::config::keys::{KeyPath, Keys, Kind, each_value};
use crate::config::nearest::nearest;
use crate::config::problem::Problems;

const SEPARATOR: &str = "__";

/// What the names of ours begin with when a separator was forgotten.
const OTHER_PREFIX: &str = "NIMBUS_";

/// The variables of this project.
pub(in crate::config) struct Environment {
    /// Without the prefix.
    ours: BTreeMap<String, OsString>,
    /// What looks like ours and is not, without the [`OTHER_PREFIX`].
    others: Vec<String>,
}

impl Environment {
    pub(in crate::config) fn new(
        variables: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> Self {
        let mut environment = Self {
            ours: BTreeMap::new(),
            others: Vec::new(),
        };
        for (name, value) in variables {
            // A name that is not Unicode has its ASCII part all the same.
            let name = name.to_string_lossy();
            if let Some(rest) = stripped(&name, PREFIX) {
                environment.ours.insert(rest.to_owned(), value);
            } else if let Some(rest) = stripped(&name, OTHER_PREFIX) {
                environment.others.push(rest.to_owned());
            }
        }
        environment
    }

    /// The text of the variable of a key.
    pub(in crate::config) fn text(&self, key: &KeyPath) -> Option<&str> {
        let variable = key.variable()?;
        let name = variable.strip_prefix(PREFIX)?;
        let mut ours = self.ours.iter();
        let (_, value) = ours.find(|(spelt, _)| spelt.eq_ignore_ascii_case(name))?;
        value.to_str()
    }

    /// The values, as texts that know their variable. Variables that name nothing are problems,
    /// except those that only a provider knows that was not selected.
    pub(in crate::config) fn values(self, keys: &Keys, problems: &mut Problems) -> Table {
        let root = Kind::Table(keys.clone());
        let mut table = Table::new();
        for (name, value) in self.ours {
            let variable = format!("{PREFIX}{name}");
            let segments: Vec<_> = name.split(SEPARATOR).collect();
            let path = match resolve(&root, &segments) {
                Resolved::Value(path) => path,
                Resolved::Unread => continue,
                Resolved::Wrong(problem) => {
                    problems.at_variable(&variable, problem);
                    continue;
                }
                Resolved::Unknown => {
                    let advice = advice(&name, &variables(&root, &segments));
                    problems.at_variable(&variable, format!("it names no setting; {advice}"));
                    continue;
                }
            };
            match value.into_string() {
                Err(_) => problems.at_variable(&variable, "its value is not UTF-8 text"),
                Ok(text) => {
                    let value = Value::new(Some(&variable), ValueKind::String(text));
                    if !insert(&mut table, &path, value) {
                        let problem = "it is set more than once, in different letters; keep one";
                        problems.at_variable(&variable, problem);
                    }
                }
            }
        }
        let known = variables(&root, &[]);
        for name in &self.others {
            // One that stands near by chance, such as a home directory's, is not worth a line.
            let plain = |name: &str| name.replace('_', "").to_ascii_lowercase();
            if let Some(meant) = known.iter().find(|known| plain(known) == plain(name)) {
                tracing::warn!(
                    variable = %format_args!("{OTHER_PREFIX}{name}"),
                    "this environment variable is not read; if it is meant as a setting, call it \
                     {PREFIX}{meant}"
                );
            }
        }
        table
    }
}

fn stripped<'a>(name: &'a str, prefix: &str) -> Option<&'a str> {
    let (start, rest) = name.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

const LIST: &str = "a list can only be given in the file";

enum Resolved {
    Value(Vec<String>),
    /// Someone else's.
    Unread,
    Unknown,
    Wrong(&'static str),
}

/// The key that the segments of a variable's name lead to.
fn resolve(root: &Kind, segments: &[&str]) -> Resolved {
    let mut kind = root;
    let mut path = Vec::new();
    for segment in segments {
        kind = match kind {
            Kind::Table(keys) => match keys.spelled(segment) {
                Some((name, kind)) => {
                    path.push(name.to_owned());
                    kind
                }
                None if keys.is_open() || keys.is_foreign(segment) => return Resolved::Unread,
                None => return Resolved::Unknown,
            },
            Kind::Map(inner) if !segment.is_empty() => {
                path.push((*segment).to_owned());
                inner
            }
            Kind::Unread => return Resolved::Unread,
            Kind::List(_) => return Resolved::Wrong(LIST),
            _ => return Resolved::Unknown,
        };
    }
    match kind {
        Kind::Unread => Resolved::Unread,
        Kind::List(_) => Resolved::Wrong(LIST),
        kind if kind.is_nested() => {
            Resolved::Wrong("it names a section and not one of its keys; add the name of a key")
        }
        _ => Resolved::Value(path),
    }
}

/// What to tell someone who wrote `name`, without the prefix.
fn advice(name: &str, known: &[String]) -> String {
    match nearest(name, known.iter().map(String::as_str)) {
        Some(meant) => format!("did you mean {PREFIX}{meant}?"),
        None => {
            let known: Vec<_> = known.iter().map(|name| format!("{PREFIX}{name}")).collect();
            format!("known are {}", known.join(", "))
        }
    }
}

/// Every variable there is, without the prefix, with names that the user chooses taken from `given`.
fn variables(root: &Kind, given: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    let chosen = |depth| given.get(depth).copied().unwrap_or("<name>").to_owned();
    each_value(root, &KeyPath::root(), &chosen, &mut |path, kind| {
        let variable = path.variable().filter(|_| !kind.is_nested());
        names.extend(variable.and_then(|name| Some(name.strip_prefix(PREFIX)?.to_owned())));
    });
    names
}

/// Whether there was nothing at that place before.
fn insert(table: &mut Table, path: &[String], value: Value) -> bool {
    match path {
        [] => false,
        [last] => table.insert(last.clone(), value).is_none(),
        [first, rest @ ..] => {
            let inner = table
                .entry(first.clone())
                .or_insert_with(|| Value::new(None, ValueKind::Table(Table::new())));
            match &mut inner.kind {
                ValueKind::Table(inner) => insert(inner, rest, value),
                _ => false,
            }
        }
    }
}
