//! Names that may stand in SQL (INB-28).

use std::fmt;

use nimbus_inbox_core::{Error, Operation};

use crate::error::misconfigured;

/// PostgreSQL cuts longer names off without an error, and two could become one.
const MAX_LENGTH: usize = 63;

/// What is added to a table's name to name its index.
const INDEX_SUFFIX: &str = "_created_at";

/// Schemas of PostgreSQL itself, and tables of another part of this project.
const RESERVED_SCHEMAS: [&str; 2] = ["pg_", "information_schema"];
const RESERVED_TABLES: [&str; 1] = ["session_"];

/// The validated name of a table in its schema.
///
/// Names stand in quotes, so that their case is kept and keywords are no exception.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Table {
    schema: String,
    name: String,
}

impl Default for Table {
    fn default() -> Self {
        Self {
            schema: "nimbus".to_owned(),
            name: "inbox_messages".to_owned(),
        }
    }
}

impl Table {
    pub(crate) fn with_schema(self, schema: &str) -> Result<Self, Error> {
        validate("schema", schema, MAX_LENGTH, &RESERVED_SCHEMAS)?;
        let schema = schema.to_owned();
        Ok(Self { schema, ..self })
    }

    pub(crate) fn with_name(self, name: &str) -> Result<Self, Error> {
        let limit = MAX_LENGTH - INDEX_SUFFIX.len();
        validate("table", name, limit, &RESERVED_TABLES)?;
        let name = name.to_owned();
        Ok(Self { name, ..self })
    }

    pub(crate) fn schema(&self) -> &str {
        &self.schema
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    pub(crate) fn index(&self) -> String {
        format!("{}{INDEX_SUFFIX}", self.name)
    }

    /// As people write it.
    pub(crate) fn plain(&self) -> String {
        format!("{}.{}", self.schema, self.name)
    }

    /// What creates the table, or checks it. The address holds secrets, so it is not repeated.
    pub(crate) fn provision_command(&self) -> String {
        let default = Self::default();
        let mut command = "cargo xtask provision --postgres URL".to_owned();
        for (option, name, usual) in [
            (" --schema ", &self.schema, &default.schema),
            (" --table ", &self.name, &default.name),
        ] {
            if name != usual {
                command.push_str(option);
                command.push_str(name);
            }
        }
        command
    }
}

/// As it stands in SQL.
impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"{}\".\"{}\"", self.schema, self.name)
    }
}

fn validate(what: &str, name: &str, limit: usize, reserved: &[&str]) -> Result<(), Error> {
    let refused = |reason: &str| {
        let shown: String = name.chars().take(MAX_LENGTH).collect();
        misconfigured(
            Operation::Configure,
            format!(
                "{shown:?} can't be the name of a {what}: {reason}; use 1 to {limit} ASCII \
                 letters, digits and underscores, no digit first"
            ),
        )
    };
    if name.is_empty() {
        return Err(refused("it is empty"));
    }
    if name.len() > limit {
        return Err(refused("it is too long"));
    }
    if !name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_') {
        return Err(refused("it holds a character of another kind"));
    }
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        return Err(refused("it begins with a digit"));
    }
    let lower = name.to_ascii_lowercase();
    if reserved.iter().any(|prefix| lower.starts_with(prefix)) {
        return Err(refused("names that begin like that belong to others"));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use nimbus_inbox_core::ErrorKind;

    use super::*;

    /// INB-28
    #[test]
    fn only_plain_names_are_accepted() {
        for good in ["nimbus", "Inbox2", "_x", "order", &"a".repeat(52)] {
            let table = Table::default().with_schema(good).expect(good);
            assert_eq!(table.schema(), good);
            let table = Table::default().with_name(good).expect(good);
            assert_eq!(table.name(), good);
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
            &"a".repeat(64),
        ] {
            for error in [
                Table::default().with_schema(bad).expect_err(bad),
                Table::default().with_name(bad).expect_err(bad),
            ] {
                assert_eq!(error.kind(), ErrorKind::Configuration);
                assert_eq!(error.provider(), Some("postgres"));
            }
        }
        for bad in ["pg_catalog", "PG_x", "information_schema"] {
            Table::default().with_schema(bad).expect_err(bad);
        }
        for bad in ["session_states", &"a".repeat(53)] {
            Table::default().with_name(bad).expect_err(bad);
        }
    }

    #[test]
    fn a_refusal_shows_no_more_of_a_name_than_a_name_may_have() {
        let error = Table::default().with_name(&"x".repeat(100_000));
        let text = error.expect_err("too long").to_string();
        assert!(text.len() < 500, "{text}");
    }

    #[test]
    fn the_command_names_what_is_not_the_default() {
        let table = Table::default();
        let command = "cargo xtask provision --postgres URL";
        assert_eq!(table.provision_command(), command);
        let table = table.with_schema("Billing").expect("usable");
        assert_eq!(
            table.provision_command(),
            format!("{command} --schema Billing")
        );
    }
}
