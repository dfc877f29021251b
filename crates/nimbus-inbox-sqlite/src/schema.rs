//! The table.

use nimbus_sqlite::Schema;

use crate::table::TableName;

/// How the table of this name is made, and how its absence is noticed.
pub(crate) fn schema(table: &TableName) -> Schema {
    // SQLite's names ignore case, so two spellings are one table and need one version.
    Schema::new(format!("inbox {}", table.as_str().to_ascii_lowercase()))
        .with_table(table.as_str())
        .with_step(ddl(table))
}

/// Without a rowid, a record writes two pages instead of three. The index serves the purge, whose
/// condition names both of its columns.
pub(crate) fn ddl(table: &TableName) -> String {
    let index = format!("\"{}_created_at\"", table.as_str());
    format!(
        "\
-- Records of the consumer inbox, version 1.
-- identity_hash: SHA-256 over the endpoint and the message id, which every provider keys on.
-- endpoint_id: compared byte by byte by the purge. message_id: for people and tools.
-- created_at: 100-nanosecond ticks since the Unix epoch, in UTC.
create table if not exists {table} (
    identity_hash blob not null primary key check (length(identity_hash) = 32),
    endpoint_id text not null,
    message_id text not null,
    created_at integer not null
) strict, without rowid;

create index if not exists {index} on {table} (endpoint_id, created_at);
"
    )
}
