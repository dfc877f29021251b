use std::collections::BTreeMap;

/// What the value of a key is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::config) enum Kind {
    Boolean,
    Integer,
    Number,
    Text,
    Duration,
    Path,
    Secret,
    /// One of these names: alone, or as the one key of a table that holds what belongs to it.
    Choice(Vec<(&'static str, Kind)>),
    /// Nothing: the name in front of it says it all.
    Unit,
    /// A table with known keys.
    Table(Keys),
    /// A table whose keys are names that the user chose.
    Map(Box<Kind>),
    List(Box<Kind>),
    /// Whatever the type makes of it.
    Any,
    /// Meant for another program, and left alone.
    Unread,
}

impl Kind {
    /// As the end of "it takes …".
    pub(in crate::config) fn expectation(&self) -> String {
        match self {
            Self::Duration => "a duration such as \"5s\", \"1h 30m\" or \"7 days\"".to_owned(),
            Self::Path => "the path of a file, as a text".to_owned(),
            Self::Boolean | Self::Choice(_) | Self::Unit => self.name(),
            _ => format!("a {}", self.name()),
        }
    }

    /// Its name in a table of keys.
    pub(in crate::config) fn name(&self) -> String {
        let name = match self {
            Self::Boolean => "true or false",
            Self::Integer => "whole number",
            Self::Number => "number",
            Self::Text => "text",
            Self::Duration => "duration",
            Self::Path => "path",
            Self::Secret => "secret text",
            Self::Choice(choices) => {
                let choices = choices.iter().map(|(name, kind)| match kind {
                    Self::Unit => format!("\"{name}\""),
                    _ => format!("{{ {name} = … }}"),
                });
                return format!("one of {}", choices.collect::<Vec<_>>().join(", "));
            }
            Self::Unit => "nothing",
            Self::Table(_) | Self::Map(_) => "table",
            Self::List(inner) => return format!("list of {}s", inner.name()),
            Self::Any | Self::Unread => "value",
        };
        name.to_owned()
    }

    /// Whether it holds further keys, so that no variable can give it as a whole.
    pub(in crate::config) fn is_nested(&self) -> bool {
        matches!(self, Self::Table(_) | Self::Map(_) | Self::List(_))
    }
}

/// The keys of a table.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(in crate::config) struct Keys {
    known: BTreeMap<String, Kind>,
    /// Keys that are meant for someone else, and are left alone.
    foreign: BTreeMap<String, Kind>,
    /// Whether any other key is left alone as well.
    open: bool,
}

impl Keys {
    pub(in crate::config) fn new(known: impl IntoIterator<Item = (String, Kind)>) -> Self {
        Self {
            known: known.into_iter().collect(),
            ..Self::default()
        }
    }

    /// Lets any other key pass unread: who would know them is not there.
    pub(in crate::config) fn leave_open(&mut self) {
        self.open = true;
    }

    pub(in crate::config) fn is_open(&self) -> bool {
        self.open
    }

    pub(in crate::config) fn insert(&mut self, name: &str, kind: Kind) {
        self.known.insert(name.to_owned(), kind);
    }

    /// Adds the keys of a provider, which live in the same table.
    pub(in crate::config) fn extend(&mut self, other: &Self) {
        for (name, kind) in &other.known {
            self.known.insert(name.clone(), kind.clone());
        }
    }

    /// Adds keys that only a variable may name, and that nobody here reads.
    pub(in crate::config) fn extend_foreign(&mut self, other: &Self) {
        for (name, kind) in &other.known {
            self.foreign.insert(name.clone(), kind.clone());
        }
    }

    pub(in crate::config) fn get(&self, name: &str) -> Option<&Kind> {
        self.known.get(name)
    }

    pub(in crate::config) fn table_mut(&mut self, name: &str) -> Option<&mut Self> {
        match self.known.get_mut(name) {
            Some(Kind::Table(keys)) => Some(keys),
            _ => None,
        }
    }

    /// The key whose name a variable spells, in any ASCII case.
    pub(in crate::config) fn spelled(&self, name: &str) -> Option<(&str, &Kind)> {
        spelled(&self.known, name)
    }

    pub(in crate::config) fn is_foreign(&self, name: &str) -> bool {
        spelled(&self.foreign, name).is_some()
    }

    pub(in crate::config) fn iter(&self) -> impl Iterator<Item = (&str, &Kind)> {
        self.known.iter().map(|(name, kind)| (name.as_str(), kind))
    }

    pub(in crate::config) fn names(&self) -> impl Iterator<Item = &str> {
        self.known.keys().map(String::as_str)
    }
}

fn spelled<'a>(keys: &'a BTreeMap<String, Kind>, name: &str) -> Option<(&'a str, &'a Kind)> {
    keys.iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(known, kind)| (known.as_str(), kind))
}
