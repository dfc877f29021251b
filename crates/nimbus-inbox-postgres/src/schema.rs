//! The statements that create the table.

use crate::table::Table;

/// All statements, in order. They tolerate to run again.
///
/// Both texts are compared byte by byte whatever the database's own collation is. The index
/// serves the purge, whose condition names both of its columns.
pub(crate) fn ddl(table: &Table) -> String {
    let schema = table.schema();
    format!(
        "\
-- Records of the consumer inbox, version 1.
create schema if not exists \"{schema}\";

{}",
        table_ddl(table)
    )
}

/// The statements for a schema that exists: creating it if it doesn't asks for a permission even
/// when it does.
pub(crate) fn table_ddl(table: &Table) -> String {
    let index = format!("\"{}\"", table.index());
    format!(
        "\
-- identity_hash: SHA-256 over the endpoint and the message id, which every provider keys on.
-- endpoint_id: compared byte by byte by the purge. message_id: for people and tools.
-- In both, a backslash is written \\\\ and a NUL, which text can't hold, \\0.
-- created_at: by the server's clock.
create table if not exists {table} (
    identity_hash bytea not null primary key check (octet_length(identity_hash) = 32),
    endpoint_id text collate \"C\" not null,
    message_id text collate \"C\" not null,
    created_at timestamptz not null default now()
);

create index if not exists {index} on {table} (endpoint_id, created_at);
"
    )
}

/// What a service's role needs to use the table, and nothing more.
///
/// To lock rows, which the purge does before it deletes them, PostgreSQL asks for `update` on a
/// column; on that of the message id it can do the least harm.
pub(crate) fn grants(table: &Table, role: &str) -> String {
    let (schema, role) = (table.schema(), quoted(role));
    format!(
        "\
grant usage on schema \"{schema}\" to {role};
grant select, insert, delete, update (message_id) on {table} to {role};
"
    )
}

/// A role's name as it stands in SQL, whatever it holds.
pub(crate) fn quoted(role: &str) -> String {
    format!("\"{}\"", role.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// INB-28: a role is not ours to name.
    #[test]
    fn a_role_can_not_leave_its_quotes() {
        assert_eq!(quoted("app"), "\"app\"");
        assert_eq!(quoted("a\"; drop"), "\"a\"\"; drop\"");
    }
}
