//! A name that may stand in SQL (INB-28).

use std::fmt;
use std::path::Path;

use nimbus_inbox_core::{Error, Operation};

use crate::error::misconfigured;

/// The validated name of the inbox's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableName(String);

/// Well under every limit of SQLite, and long enough for a prefix of one's own.
const MAX_LENGTH: usize = 64;

/// Names that SQLite, or another part of this project, keeps in the same file.
const RESERVED_PREFIXES: [&str; 5] = [
    "sqlite_",
    "nimbus_schema",
    "nimbus_session",
    "nimbus_queue",
    "nimbus_resolver",
];

impl TableName {
    pub(crate) fn new(name: &str) -> Result<Self, Error> {
        let refused = |reason: &str| {
            misconfigured(
                Operation::Configure,
                format!(
                    "{:?} can't be the name of an inbox table: {reason}; use 1 to {MAX_LENGTH} \
                     ASCII letters, digits and underscores, no digit first",
                    name.chars().take(MAX_LENGTH).collect::<String>(),
                ),
            )
        };
        if name.is_empty() {
            return Err(refused("it is empty"));
        }
        if name.len() > MAX_LENGTH {
            return Err(refused("it is too long"));
        }
        if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return Err(refused("it holds a character of another kind"));
        }
        if name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(refused("it begins with a digit"));
        }
        let lower = name.to_ascii_lowercase();
        if RESERVED_PREFIXES
            .iter()
            .any(|prefix| lower.starts_with(prefix))
        {
            return Err(refused(
                "names that begin like that belong to other tables of the file",
            ));
        }
        Ok(Self(name.to_owned()))
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }

    /// What creates the table in the file at `path`, or checks it.
    pub(crate) fn provision_command(&self, path: &Path) -> String {
        let command = format!("cargo xtask provision --sqlite {}", path.display());
        if *self == Self::default() {
            command
        } else {
            format!("{command} --table {}", self.0)
        }
    }
}

impl Default for TableName {
    fn default() -> Self {
        Self("nimbus_inbox".to_owned())
    }
}

/// As it stands in SQL: in quotes, because a keyword is a valid name.
impl fmt::Display for TableName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\"", self.0)
    }
}

#[cfg(test)]
mod tests {
    use nimbus_inbox_core::ErrorKind;

    use super::*;

    #[test]
    fn only_plain_names_are_accepted() {
        for good in ["nimbus_inbox", "Inbox2", "_x", "order", &"a".repeat(64)] {
            assert_eq!(TableName::new(good).expect(good).as_str(), good);
        }
        for bad in [
            "",
            " ",
            "2nd",
            "a b",
            "a-b",
            "a.b",
            "a\"; drop table a; --",
            "caf\u{e9}",
            "a\0",
            "sqlite_sequence",
            "SQLite_x",
            "nimbus_schema",
            "Nimbus_Queue_Message",
            "nimbus_session",
            "nimbus_resolver_event",
            &"a".repeat(65),
        ] {
            let error = TableName::new(bad).expect_err(bad);
            assert_eq!(error.kind(), ErrorKind::Configuration);
            assert_eq!(error.provider(), Some("sqlite"));
        }
    }

    #[test]
    fn a_refusal_shows_no_more_of_a_name_than_a_name_may_have() {
        let error = TableName::new(&"x".repeat(100_000)).expect_err("too long");
        assert!(error.to_string().len() < 500, "{error}");
    }
}
