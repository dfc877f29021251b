//! The tables.

use crate::schema::quoted;
use crate::tables::Layout;

/// All statements, in order. They tolerate to run again.
pub(super) fn ddl(schema: &str) -> String {
    format!(
        "\
-- Sessions of transports that keep no session state of their own, version 1.
create schema if not exists \"{schema}\";

{}",
        tables_ddl(schema)
    )
}

/// What a service's role needs to use the tables, and nothing more.
pub(super) fn grants(schema: &str, role: &str) -> String {
    let role = quoted(role);
    format!(
        "\
grant usage on schema \"{schema}\" to {role};
grant select, insert, update on \"{schema}\".session_states to {role};
grant select, insert, update, delete on \"{schema}\".session_parked to {role};
"
    )
}

pub(super) fn layout(schema: &str) -> Layout {
    Layout {
        schema: schema.to_owned(),
        tables: ["session_states", "session_parked"]
            .map(str::to_owned)
            .into(),
        ddl: tables_ddl(schema),
    }
}

fn tables_ddl(schema: &str) -> String {
    format!(
        "\
-- In all ids, a backslash is written \\\\ and a NUL, which text can't hold, \\0.
-- version: raised by every fence and every write, never lowered.
create table if not exists \"{schema}\".session_states (
    endpoint_id text collate \"C\" not null,
    session_id text collate \"C\" not null,
    version bigint not null,
    state text not null,
    primary key (endpoint_id, session_id)
);

-- Copies set aside while their session is blocked, handled in the order of sequence and copy_id.
-- envelope: everything but the body, as JSON.
create table if not exists \"{schema}\".session_parked (
    endpoint_id text collate \"C\" not null,
    session_id text collate \"C\" not null,
    sequence bigint not null,
    copy_id text collate \"C\" not null,
    generation bigint not null,
    envelope text not null,
    body bytea not null,
    primary key (endpoint_id, session_id, sequence, copy_id)
);
"
    )
}
