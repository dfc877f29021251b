use std::fmt;

use super::Kind;
use crate::config::PREFIX;

/// Where a value is, from the top of the configuration.
#[derive(Debug, Clone, Default)]
pub(in crate::config) struct KeyPath(Vec<Segment>);

#[derive(Debug, Clone)]
enum Segment {
    Known(String),
    /// A name that the user chose, such as an event type.
    Chosen(String),
    Element(usize),
}

impl KeyPath {
    pub(in crate::config) fn root() -> Self {
        Self::default()
    }

    pub(in crate::config) fn key(&self, name: &str) -> Self {
        self.with(Segment::Known(name.to_owned()))
    }

    pub(in crate::config) fn chosen(&self, name: &str) -> Self {
        self.with(Segment::Chosen(name.to_owned()))
    }

    pub(in crate::config) fn element(&self, index: usize) -> Self {
        self.with(Segment::Element(index))
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }

    /// The variable that gives it; none for what is inside a list. A list itself has none either.
    pub(in crate::config) fn variable(&self) -> Option<String> {
        let mut names = Vec::new();
        for segment in &self.0 {
            names.push(match segment {
                Segment::Known(name) => name.to_ascii_uppercase(),
                Segment::Chosen(name) => name.clone(),
                Segment::Element(_) => return None,
            });
        }
        Some(format!("{PREFIX}{}", names.join("__")))
    }
}

impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, segment) in self.0.iter().enumerate() {
            let dot = if place == 0 { "" } else { "." };
            match segment {
                Segment::Known(name) => write!(f, "{dot}{name}")?,
                Segment::Chosen(name) if is_bare(name) => write!(f, "{dot}{name}")?,
                Segment::Chosen(name) => write!(f, "{dot}{name:?}")?,
                Segment::Element(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// Whether TOML takes the name without quotes.
fn is_bare(name: &str) -> bool {
    let bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    !name.is_empty() && name.chars().all(bare)
}

/// Calls `visit` with every key below `kind` that holds a value or a list of values, and what it
/// takes. Names that the user chooses are `chosen(depth)`.
pub(in crate::config) fn each_value(
    kind: &Kind,
    path: &KeyPath,
    chosen: &dyn Fn(usize) -> String,
    visit: &mut dyn FnMut(&KeyPath, &Kind),
) {
    match kind {
        Kind::Table(keys) => {
            for (name, kind) in keys.iter() {
                each_value(kind, &path.key(name), chosen, visit);
            }
        }
        Kind::Map(inner) => {
            let name = chosen(path.0.len());
            each_value(inner, &path.chosen(&name), chosen, visit);
        }
        Kind::List(inner) if inner.is_nested() => {
            each_value(inner, &path.element(0), chosen, visit)
        }
        Kind::Unread => {}
        _ => visit(path, kind),
    }
}
