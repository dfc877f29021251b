use std::collections::BTreeMap;
use std::ffi::OsString;

use config::{Value, ValueKind};

use super::Table;
use crate::config::PREFIX;
use crate::config::keys::{KeyPath, Keys, Kind, each_value};
use crate::config::nearest::{nearest, suggestion};
use crate::config::problem::Problems;

const SEPARATOR: &str = "__";

/// The variables of this project.
pub(in crate::config) struct Environment {
    /// Without the prefix.
    ours: BTreeMap<String, OsString>,
    /// What looks like ours and is not.
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
            } else if stripped(&name, "NIMBUS_").is_some() {
                environment.others.push(name.into_owned());
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
                    let known = variables(&root, &segments);
                    let advice = suggestion(&variable, known.iter().map(String::as_str));
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
        for name in self.others {
            let known = variables(&root, &[]);
            if let Some(meant) = nearest(&name, known.iter().map(String::as_str)) {
                tracing::warn!(
                    variable = %name,
                    "this environment variable is not read; if it is meant as a setting, call it {meant}"
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
            Kind::List(_) => return Resolved::Wrong("a list can only be given in the file"),
            _ => return Resolved::Unknown,
        };
    }
    match kind {
        Kind::Unread => Resolved::Unread,
        kind if kind.is_nested() => {
            Resolved::Wrong("it names a section and not one of its keys; add the name of a key")
        }
        _ => Resolved::Value(path),
    }
}

/// Every variable there is, with names that the user chooses taken from `given`.
fn variables(root: &Kind, given: &[&str]) -> Vec<String> {
    let mut names = Vec::new();
    let chosen = |depth| given.get(depth).copied().unwrap_or("<name>").to_owned();
    each_value(root, &KeyPath::root(), &chosen, &mut |path, _| {
        names.extend(path.variable());
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
