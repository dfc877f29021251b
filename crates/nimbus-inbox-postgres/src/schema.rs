//! The statements that create the table.

use crate::table::{INDEX_SUFFIX, Table};

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
    let index = format!("\"{}{INDEX_SUFFIX}\"", table.name());
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
