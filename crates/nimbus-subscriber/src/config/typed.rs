//! From checked values to the types that ask for them.

use config::{ConfigError, Value, ValueKind};
use serde::de::DeserializeOwned;

use super::keys::{KeyPath, Kind, keys_of};
use super::problem::Problems;
use super::source::Table;

/// The table as a `T`. What it can't take is added to the problems and left out, so that all of it
/// is found.
pub(super) fn typed<T: DeserializeOwned>(
    mut table: Table,
    section: &KeyPath,
    problems: &mut Problems,
) -> Option<T> {
    loop {
        let error = match T::deserialize(Value::new(None, table.clone())) {
            Ok(typed) => return Some(typed),
            Err(error) => error,
        };
        let wrong = Wrong::from(error);
        let name = wrong.key.split(['.', '[']).next().unwrap_or_default();
        let Some(value) = table.remove(name) else {
            match wrong.key.as_str() {
                "" => problems.at_key(section, masked(wrong.reason, &table)),
                key => {
                    let path = section.key(key);
                    let advice = advice::<T>(key, &path);
                    problems.missing(&path, advice.as_deref());
                }
            }
            return None;
        };
        let removed = Table::from_iter([(name.to_owned(), value.clone())]);
        let reason = masked(wrong.reason, &removed);
        problems.at_value(&section.key(&wrong.key), &value, reason);
    }
}

/// Where to put what the file must not hold.
fn advice<T: DeserializeOwned>(key: &str, path: &KeyPath) -> Option<String> {
    let is_secret = keys_of::<T>().get(key) == Some(&Kind::Secret);
    let variable = path.variable().filter(|_| is_secret)?;
    Some(format!(
        "it is a secret: set the environment variable {variable}"
    ))
}

struct Wrong {
    key: String,
    reason: String,
}

impl From<ConfigError> for Wrong {
    fn from(error: ConfigError) -> Self {
        match error {
            ConfigError::At { error, key, .. } => Self {
                key: key.unwrap_or_default(),
                reason: Self::from(*error).reason,
            },
            ConfigError::Type { expected, key, .. } => Self {
                key: key.unwrap_or_default(),
                reason: format!("it takes {expected}"),
            },
            ConfigError::NotFound(key) => Self {
                key,
                reason: "a key is missing in it".to_owned(),
            },
            other => Self {
                key: String::new(),
                reason: other.to_string(),
            },
        }
    }
}

/// The reason without the texts it speaks of: a type of a provider may quote what it can't take.
fn masked(mut reason: String, values: &Table) -> String {
    for value in values.values() {
        mask(&mut reason, value);
    }
    reason
}

fn mask(reason: &mut String, value: &Value) {
    match &value.kind {
        ValueKind::String(text) if !text.trim().is_empty() => {
            *reason = reason.replace(text.as_str(), "…").replace(text.trim(), "…");
        }
        ValueKind::Table(table) => table.values().for_each(|value| mask(reason, value)),
        ValueKind::Array(values) => values.iter().for_each(|value| mask(reason, value)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use nimbus_inbox_core::config::Secret;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer};

    use super::*;

    #[derive(Debug)]
    struct Url;

    impl<'de> Deserialize<'de> for Url {
        fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let text = String::deserialize(deserializer)?;
            Err(D::Error::custom(format!("no URL: {text:?} ({text})")))
        }
    }

    #[derive(Debug, Deserialize)]
    #[expect(dead_code, reason = "it is never read whole")]
    struct Settings {
        url: Option<Url>,
        small: Option<u8>,
        password: Option<Secret>,
        needed: bool,
    }

    /// SUB-32: everything that a type can't take is found, and nothing of it is repeated, not even
    /// what the type itself quotes.
    #[test]
    fn everything_wrong_is_found_and_not_repeated() {
        let mut problems = Problems::new(Path::new("billing.toml"));
        let variable = "NIMBUS__INBOX__URL".to_owned();
        let url = "postgres://billing:hunter2@[db";
        let table = Table::from_iter([
            ("url".to_owned(), Value::new(Some(&variable), url)),
            ("small".to_owned(), Value::new(None, 300)),
            ("password".to_owned(), Value::new(None, "hunter2")),
        ]);
        let section = KeyPath::root().key("inbox");
        assert!(typed::<Settings>(table, &section, &mut problems).is_none());
        let mut found = problems.into_list();
        found.sort();
        assert_eq!(
            found,
            [
                "inbox.needed in billing.toml: this key is missing",
                "inbox.small in billing.toml: it takes an unsigned 8 bit integer",
                "the environment variable NIMBUS__INBOX__URL: no URL: \"…\" (…)",
            ]
        );
    }
}
