//! What is missing from a live schema, or other than needed, in words.

use std::collections::BTreeMap;
use std::fmt;

use super::shape::{Column, Index, Shape, Table};

/// One thing that is not as needed.
#[derive(Debug)]
pub(crate) enum Difference {
    /// A table that can be created.
    Missing(String),
    /// An index that can be created on a table that exists.
    MissingIndex { table: String, what: String },
    /// In a table that exists, and nothing that can be added to it.
    Other { table: String, what: String },
}

impl Difference {
    /// Whether creating what is missing removes it.
    pub(crate) fn is_creatable(&self) -> bool {
        match self {
            Self::Missing(_) | Self::MissingIndex { .. } => true,
            Self::Other { .. } => false,
        }
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(table) => write!(f, "table {table}: missing"),
            Self::MissingIndex { table, what } | Self::Other { table, what } => {
                write!(f, "table {table}: {what}")
            }
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
                let other = within(table, found).map(|what| Difference::Other {
                    table: name.clone(),
                    what,
                });
                differences.extend(other);
                let missing = missing_indexes(table, found).map(|what| Difference::MissingIndex {
                    table: name.clone(),
                    what,
                });
                differences.extend(missing);
            }
        }
    }
    differences
}

fn within(needed: &Table, live: &Table) -> impl Iterator<Item = String> {
    let kind = (needed.kind() != live.kind())
        .then(|| format!("is {}, should be {}", live.kind(), needed.kind()));
    let columns = unequal(
        "column",
        needed.columns.iter(),
        &live.columns,
        Column::describe,
    );
    let added = live.columns.keys();
    let added = added.filter(|name| !needed.columns.contains_key(*name));
    let added: Vec<_> = added
        .map(|name| format!("column {name} is there, should not be"))
        .collect();
    let indexes = needed.indexes.iter();
    let indexes = indexes.filter(|(name, index)| !is_missing(name, index, live));
    let indexes = unequal("index", indexes, &live.indexes, Index::describe);
    kind.into_iter().chain(columns).chain(added).chain(indexes)
}

fn missing_indexes(needed: &Table, live: &Table) -> impl Iterator<Item = String> {
    let missing = needed.indexes.iter();
    let missing = missing.filter(|(name, index)| is_missing(name, index, live));
    unequal("index", missing, &live.indexes, Index::describe).into_iter()
}

/// An index of a key comes only with its table.
fn is_missing(name: &str, index: &Index, live: &Table) -> bool {
    !index.is_of_key && !live.indexes.contains_key(name)
}

fn unequal<'a, T: PartialEq + 'a>(
    kind: &str,
    needed: impl Iterator<Item = (&'a String, &'a T)>,
    live: &BTreeMap<String, T>,
    describe: fn(&T) -> String,
) -> Vec<String> {
    let unequal = needed.filter(|(name, value)| live.get(*name) != Some(value));
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
