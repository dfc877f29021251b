//! What is missing from a live schema, or other than needed, in words.

use std::collections::BTreeMap;
use std::fmt;

use super::shape::{Column, Index, Shape, Table};

/// One thing that is not as needed.
#[derive(Debug)]
pub(crate) enum Difference {
    /// A table that can be created.
    Missing(String),
    /// In a table that exists.
    Other { table: String, what: String },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(table) => write!(f, "table {table}: missing"),
            Self::Other { table, what } => write!(f, "table {table}: {what}"),
        }
    }
}

/// Only the needed tables are compared: a file can hold others. An index that somebody added is
/// theirs.
pub(super) fn between(needed: &Shape, live: &Shape) -> Vec<Difference> {
    let mut differences = Vec::new();
    for (name, table) in &needed.0 {
        match live.0.get(name) {
            None => differences.push(Difference::Missing(name.clone())),
            Some(found) => {
                differences.extend(within(table, found).map(|what| Difference::Other {
                    table: name.clone(),
                    what,
                }));
            }
        }
    }
    differences
}

fn within(needed: &Table, live: &Table) -> impl Iterator<Item = String> {
    let kind = (needed.kind() != live.kind())
        .then(|| format!("is {}, should be {}", live.kind(), needed.kind()));
    let columns = unequal("column", &needed.columns, &live.columns, Column::describe);
    let added = live.columns.keys();
    let added = added.filter(|name| !needed.columns.contains_key(*name));
    let added: Vec<_> = added
        .map(|name| format!("column {name} is there, should not be"))
        .collect();
    let indexes = unequal("index", &needed.indexes, &live.indexes, Index::describe);
    kind.into_iter().chain(columns).chain(added).chain(indexes)
}

fn unequal<T: PartialEq>(
    kind: &str,
    needed: &BTreeMap<String, T>,
    live: &BTreeMap<String, T>,
    describe: fn(&T) -> String,
) -> Vec<String> {
    let unequal = needed
        .iter()
        .filter(|(name, value)| live.get(*name) != Some(value));
    unequal
        .map(|(name, value)| {
            let found = live
                .get(name)
                .map_or_else(|| "missing".to_owned(), describe);
            format!("{kind} {name} is {found}, should be {}", describe(value))
        })
        .collect()
}

impl Table {
    fn kind(&self) -> &'static str {
        match (self.is_strict, self.has_rowid) {
            (true, true) => "strict",
            (true, false) => "strict and without rowid",
            (false, true) => "neither strict nor without rowid",
            (false, false) => "without rowid and not strict",
        }
    }
}

impl Column {
    fn describe(&self) -> String {
        let mut text = self.type_name.clone();
        if self.is_required {
            text.push_str(" not null");
        }
        if let Some(default) = &self.default {
            text.push_str(" default ");
            text.push_str(default);
        }
        if self.key_place > 0 {
            let place = format!(", number {} of the primary key", self.key_place);
            text.push_str(&place);
        }
        text
    }
}

impl Index {
    fn describe(&self) -> String {
        let unique = if self.is_unique { "unique " } else { "" };
        let mut text = format!("{unique}on ({})", self.columns.join(", "));
        if let Some(condition) = &self.condition {
            text.push_str(" where ");
            text.push_str(condition);
        }
        text
    }
}
