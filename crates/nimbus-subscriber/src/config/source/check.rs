use std::path::Path;

use config::{Value, ValueKind};
use nimbus_inbox_core::config::HumanDuration;

use super::Table;
use crate::config::keys::{KeyPath, Keys, Kind};
use crate::config::nearest::suggestion;
use crate::config::problem::Problems;

/// The values that are right, each as what its key takes; what is wrong with the others is added to
/// the problems.
///
/// `base` is the directory that paths of files are relative to.
pub(in crate::config) fn checked(
    keys: &Keys,
    table: Table,
    base: &Path,
    problems: &mut Problems,
) -> Table {
    Check { base, problems }.table(keys, table, &KeyPath::root())
}

struct Check<'a> {
    base: &'a Path,
    problems: &'a mut Problems,
}

impl Check<'_> {
    fn table(&mut self, keys: &Keys, table: Table, path: &KeyPath) -> Table {
        let mut right = Table::new();
        for (name, value) in table {
            match keys.get(&name) {
                Some(Kind::Unread) => {}
                Some(kind) => {
                    let value = self.value(kind, value, &path.key(&name));
                    right.extend(value.map(|value| (name, value)));
                }
                None if keys.is_open() => {}
                None => {
                    let advice = suggestion(&name, keys.names());
                    let problem = format!("this key is not known; {advice}");
                    self.problems.at_key(&path.chosen(&name), problem);
                }
            }
        }
        right
    }

    fn value(&mut self, kind: &Kind, value: Value, path: &KeyPath) -> Option<Value> {
        let origin = value.origin().map(str::to_owned);
        if *kind == Kind::Secret && origin.is_none() {
            let advice = match path.variable() {
                Some(variable) => format!("set the environment variable {variable} instead"),
                None => "nothing in a list can be secret".to_owned(),
            };
            let problem = format!("a file must not hold this secret; delete it and {advice}");
            self.problems.at_key(path, problem);
            return None;
        }
        match self.convert(kind, value.clone(), path) {
            Converted::Right(kind) => Some(Value::new(origin.as_ref(), kind)),
            Converted::Reported => None,
            Converted::Wrong => {
                let problem = format!("it takes {}, not {}", kind.expectation(), found(&value));
                self.problems.at_value(path, &value, problem);
                None
            }
        }
    }

    fn convert(&mut self, kind: &Kind, value: Value, path: &KeyPath) -> Converted {
        // A variable is a text, whatever it looks like; a file says of itself what a value is.
        let is_text = value.origin().is_some();
        let right = match (kind, value.kind) {
            (Kind::Table(keys), ValueKind::Table(table)) => {
                ValueKind::Table(self.table(keys, table, path))
            }
            (Kind::Map(inner), ValueKind::Table(table)) => {
                let entries = table.into_iter().filter_map(|(name, value)| {
                    let value = self.value(inner, value, &path.chosen(&name))?;
                    Some((name, value))
                });
                ValueKind::Table(entries.collect())
            }
            (Kind::List(inner), ValueKind::Array(values)) => {
                let count = values.len();
                let values = values.into_iter().enumerate();
                let right: Vec<_> = values
                    .filter_map(|(index, value)| self.value(inner, value, &path.element(index)))
                    .collect();
                if right.len() < count {
                    return Converted::Reported;
                }
                ValueKind::Array(right)
            }
            (Kind::Boolean, ValueKind::String(text)) if is_text => match text.trim() {
                "true" => ValueKind::Boolean(true),
                "false" => ValueKind::Boolean(false),
                _ => return Converted::Wrong,
            },
            (Kind::Integer, ValueKind::String(text)) if is_text => match text.trim().parse() {
                Ok(number) => ValueKind::I64(number),
                Err(_) => return Converted::Wrong,
            },
            (Kind::Number, ValueKind::String(text)) if is_text => match text.trim().parse() {
                Ok(number) => ValueKind::Float(number),
                Err(_) => return Converted::Wrong,
            },
            (Kind::Duration, ValueKind::String(text)) if text.parse::<HumanDuration>().is_ok() => {
                ValueKind::String(text)
            }
            (Kind::Choice(choices), ValueKind::String(text))
                if choices
                    .iter()
                    .any(|(name, kind)| *name == text && *kind == Kind::Unit) =>
            {
                ValueKind::String(text)
            }
            (Kind::Choice(choices), ValueKind::Table(table)) => {
                match self.choice(choices, table, path) {
                    Some(converted) => return converted,
                    None => return Converted::Wrong,
                }
            }
            (Kind::Path, ValueKind::String(text)) if !text.is_empty() => {
                match self.base.join(text).into_os_string().into_string() {
                    Ok(path) => ValueKind::String(path),
                    Err(_) => {
                        let problem = "the directory of the configuration has a name that is not \
                                       UTF-8; write an absolute path";
                        self.problems.at_key(path, problem);
                        return Converted::Reported;
                    }
                }
            }
            (Kind::Boolean, kind @ ValueKind::Boolean(_))
            | (Kind::Integer, kind @ (ValueKind::I64(_) | ValueKind::U64(_)))
            | (
                Kind::Number,
                kind @ (ValueKind::Float(_) | ValueKind::I64(_) | ValueKind::U64(_)),
            )
            | (Kind::Text | Kind::Secret, kind @ ValueKind::String(_))
            | (Kind::Any, kind) => kind,
            _ => return Converted::Wrong,
        };
        Converted::Right(right)
    }
}

impl Check<'_> {
    /// A table whose one key is a name with what belongs to it.
    fn choice(
        &mut self,
        choices: &[(&str, Kind)],
        table: Table,
        path: &KeyPath,
    ) -> Option<Converted> {
        let mut entries = table.into_iter();
        let (Some((name, value)), None) = (entries.next(), entries.next()) else {
            return None;
        };
        let (_, kind) = choices.iter().find(|(known, _)| *known == name)?;
        if *kind == Kind::Unit {
            return None;
        }
        Some(match self.value(kind, value, &path.key(&name)) {
            Some(value) => {
                let table = Table::from_iter([(name, value)]);
                Converted::Right(ValueKind::Table(table))
            }
            None => Converted::Reported,
        })
    }
}

enum Converted {
    Right(ValueKind),
    Wrong,
    Reported,
}

/// What a value is, without the value.
fn found(value: &Value) -> &'static str {
    match &value.kind {
        ValueKind::Nil => "nothing",
        ValueKind::Boolean(_) => "true or false",
        ValueKind::I64(_) | ValueKind::I128(_) | ValueKind::U64(_) | ValueKind::U128(_) => {
            "a whole number"
        }
        ValueKind::Float(_) => "a number",
        ValueKind::String(text) if text.is_empty() => "an empty text",
        ValueKind::String(_) => "this text",
        ValueKind::Table(_) => "a table",
        ValueKind::Array(_) => "a list",
    }
}
