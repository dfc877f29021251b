//! The tables.

use nimbus_sqlite::Schema;

pub(super) const DDL: &str = "\
-- Sessions of transports that keep no session state of their own, version 1.

-- version: raised by every fence and every write, never lowered.
create table if not exists nimbus_session (
    endpoint_id text not null,
    session_id text not null,
    version integer not null,
    state text not null,
    primary key (endpoint_id, session_id)
) strict, without rowid;

-- Copies set aside while their session is blocked, handled in the order of sequence and copy_id.
-- envelope: everything but the body, as JSON.
create table if not exists nimbus_session_parked (
    endpoint_id text not null,
    session_id text not null,
    sequence integer not null,
    copy_id text not null,
    generation integer not null,
    envelope text not null,
    body blob not null,
    primary key (endpoint_id, session_id, sequence, copy_id)
) strict;
";

pub(super) fn schema() -> Schema {
    Schema::new("sessions")
        .with_table("nimbus_session")
        .with_table("nimbus_session_parked")
        .with_step(DDL)
}
