//! The tables as PostgreSQL understands them, whoever wrote the statements and how.

use nimbus_inbox_postgres::PostgresInboxOptions;

/// A table that has to be there.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) schema: String,
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    pub(super) key: &'static [&'static str],
    pub(super) index: Option<Index>,
}

#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: &'static str,
    /// Type, nullability, default and collation, in the server's words.
    pub(super) definition: String,
}

#[derive(Debug, Clone)]
pub(super) struct Index {
    pub(super) name: String,
    pub(super) columns: &'static [&'static str],
}

const TEXT: &str = "text not null collate \"C\"";
const BYTES: &str = "bytea not null";
const NUMBER: &str = "bigint not null";
const ANY_TEXT: &str = "text not null";

pub(super) fn inbox(options: &PostgresInboxOptions) -> Vec<Table> {
    vec![Table {
        schema: options.schema().to_owned(),
        name: options.table().to_owned(),
        columns: columns(&[
            ("identity_hash", BYTES),
            ("endpoint_id", TEXT),
            ("message_id", TEXT),
            (
                "created_at",
                "timestamp with time zone not null default now()",
            ),
        ]),
        key: &["identity_hash"],
        index: Some(Index {
            name: options.index(),
            columns: &["endpoint_id", "created_at"],
        }),
    }]
}

pub(super) fn sessions(schema: &str) -> Vec<Table> {
    let table = |name: &str, columns, key| Table {
        schema: schema.to_owned(),
        name: name.to_owned(),
        columns,
        key,
        index: None,
    };
    vec![
        table(
            "session_states",
            columns(&[
                ("endpoint_id", TEXT),
                ("session_id", TEXT),
                ("version", NUMBER),
                ("state", ANY_TEXT),
            ]),
            &["endpoint_id", "session_id"],
        ),
        table(
            "session_parked",
            columns(&[
                ("endpoint_id", TEXT),
                ("session_id", TEXT),
                ("sequence", NUMBER),
                ("copy_id", TEXT),
                ("generation", NUMBER),
                ("envelope", ANY_TEXT),
                ("body", BYTES),
            ]),
            &["endpoint_id", "session_id", "sequence", "copy_id"],
        ),
    ]
}

fn columns(columns: &[(&'static str, &str)]) -> Vec<Column> {
    let columns = columns.iter().map(|(name, definition)| Column {
        name,
        definition: (*definition).to_owned(),
    });
    columns.collect()
}
